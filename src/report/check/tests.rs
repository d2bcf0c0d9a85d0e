//! What holds for every form.
