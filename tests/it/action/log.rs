//! What a runner makes of the log of a step.

/// The workflow commands in a log that a runner obeys, in order. After `::stop-commands::WORD` it obeys none until
/// `::WORD::` comes. It looks at lines without the blanks before them, and for `##[` anywhere in a line.
pub(super) fn obeyed(log: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut stopped: Option<String> = None;
    for line in log.split(['\n', '\r']) {
        let line = line.trim_start();
        if let Some(word) = &stopped {
            if line.starts_with(&format!("::{word}::")) {
                stopped = None;
            }
            continue;
        }
        if let Some(word) = line.strip_prefix("::stop-commands::") {
            stopped = Some(word.to_owned());
        } else if line.starts_with("::") || line.contains("##[") {
            commands.push(line.to_owned());
        }
    }
    assert_eq!(stopped, None, "commands are never allowed again:\n{log}");
    commands
}

#[test]
fn commands_between_stop_and_its_word_are_not_obeyed() {
    let log =
        "::a::\n::stop-commands::w\n::b::\n ##[c]\n::wrong::\n::w::\n  ::d::e\nf ::g::\nh ##[i]j\n";
    assert_eq!(obeyed(log), ["::a::", "::d::e", "h ##[i]j"]);
}
