//! The `smgate` command.

fn main() -> std::process::ExitCode {
    smgate::cli::main()
}
