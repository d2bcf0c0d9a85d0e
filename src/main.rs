//! The `smgate` command.

fn main() {}
