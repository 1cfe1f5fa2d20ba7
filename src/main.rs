fn main() -> std::process::ExitCode {
    bgm::cli::run()
}
