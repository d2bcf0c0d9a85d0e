//! What is a verdict and what is none: the report and the exit status have to say the same.

use std::path::Path;

use super::run::{h100, instead};
use super::runner::Ended;

/// That nothing was judged and nothing is handed on.
fn judged_nothing(ended: &Ended) {
    assert_eq!(ended.verdict(), (2, "error", "2"), "{ended:?}");
    assert_eq!(ended.outputs.len(), 2, "{ended:?}");
    let [command] = &ended.commands()[..] else {
        panic!("{ended:?}");
    };
    assert!(command.starts_with("::error title=smgate::nothing was judged"));
    assert_eq!(
        ended.summary,
        "### smgate: nothing was judged\n\nThe log of the step says why.\n"
    );
}

#[test]
fn what_ends_well_without_a_report_is_no_verdict() {
    for fail_on in ["deny", "never"] {
        for args in ["--help", "-h", "--target=A100\n--help"] {
            judged_nothing(&h100().with("fail-on", fail_on).with("args", args).run());
        }
        for status in [0, 1, 3] {
            let other = instead(&format!("echo PASS >\"$markdown\"; exit {status}"));
            judged_nothing(&other.with("fail-on", fail_on).run());
        }
    }
}

#[test]
fn a_report_counts_only_where_the_exit_status_says_the_same() {
    let agreeing = [(0, "pass"), (1, "fail"), (3, "incomplete")];
    for status in [0, 1, 2, 3, 4, 101] {
        for verdict in [
            "pass",
            "fail",
            "incomplete",
            "error",
            "",
            "PASS",
            "pass\\\"x",
        ] {
            let both = "echo '::error title=t::e' >\"$github\"; echo said >\"$markdown\"";
            let ended = instead(&format!("report '{verdict}'; {both}; exit {status}")).run();
            if agreeing.contains(&(status, verdict)) {
                assert_eq!(ended.verdict(), (status, verdict, &*status.to_string()));
                assert_eq!(ended.output("errors"), "4");
                assert_eq!(ended.summary, "said\n");
            } else {
                judged_nothing(&ended);
            }
        }
    }
}

#[test]
fn a_directory_is_that_of_the_workspace_whatever_it_is_called() {
    for name in ["sub", "-", "-P"] {
        let runner = instead("pwd >\"$HOME.pwd\"; report pass").with("working-directory", name);
        let elsewhere = runner.place.path().join("elsewhere");
        for directory in [elsewhere.join(name), runner.workspace().join(name)] {
            std::fs::create_dir_all(directory).unwrap();
        }
        let program = runner.workspace().join("program");
        let runner = runner
            .with("binary", program.to_str().unwrap())
            .variable("CDPATH", elsewhere.to_str().unwrap());
        let ended = runner.run();
        assert_eq!(ended.verdict(), (0, "pass", "0"), "{name}: {ended:?}");
        let pwd = crate::support::text(&runner.place.path().join("home.pwd"));
        let expected = runner.workspace().join(name).canonicalize().unwrap();
        assert_eq!(Path::new(pwd.trim_end()).canonicalize().unwrap(), expected);
    }
}
