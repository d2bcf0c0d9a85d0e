//! What each GPU gets of a package's code: native, JIT, partial, blocked, none. Expected values by hand.

use super::build::{Lib, lib, wheel};
use super::{check, on};
use crate::verdict::{Runs, State, fatbins};

/// Libraries, GPU, driver, what it gets.
type RunsRow = (Vec<Lib>, &'static str, &'static str, Option<Runs>);

#[test]
fn a_gpu_gets_what_the_library_gives_that_gives_least() {
    let one = |images: &str, count: u64| vec![lib("pkg/_C.so").fatbin(images, count)];
    let rows: Vec<RunsRow> = vec![
        (
            one("sm_80 sm_90", 4),
            "9.0",
            "580.65.06",
            Some(Runs::Native),
        ),
        (
            one("sm_80 compute_80@8.0", 4),
            "9.0",
            "580.65.06",
            Some(Runs::Jit),
        ),
        (one("sm_80 sm_86", 4), "9.0", "580.65.06", Some(Runs::None)),
        // PTX ISA 8.8 is of CUDA 12.9, R575
        (
            one("sm_80 compute_90@8.8", 4),
            "9.0",
            "550.54.15",
            Some(Runs::Blocked),
        ),
        (
            vec![
                lib("pkg/_C.so")
                    .fatbin("sm_80 sm_90", 3)
                    .fatbin("sm_80 sm_86", 1),
            ],
            "9.0",
            "580.65.06",
            Some(Runs::Partial),
        ),
        (
            vec![
                lib("pkg/a.so").fatbin("sm_80 sm_90", 3),
                lib("pkg/b.so").fatbin("sm_80 sm_86", 1),
            ],
            "9.0",
            "580.65.06",
            Some(Runs::None),
        ),
        (vec![], "9.0", "580.65.06", None),
    ];
    for (libraries, cc, driver, expected) in rows {
        let mut input = wheel("pkg", "1.0");
        for library in libraries {
            input = input.with(library);
        }
        let evaluation = check(&input, &on(cc, driver));
        let row = &evaluation.matrix[0];
        assert_eq!(row.runs(), expected, "{:#?}", row.gpus);
    }
}

#[test]
fn each_gpu_of_a_target_has_its_own_figures() {
    let library = lib("pkg/_C.so")
        .fatbin("sm_80 sm_90", 3)
        .fatbin("sm_80 compute_86@8.0", 1);
    let evaluation = check(
        &wheel("pkg", "1.0").with(library),
        &on("8.0, 9.0", "580.65.06"),
    );
    let figures = evaluation.matrix[0].gpus.iter().map(|on| {
        let [one] = &on.libraries[..] else {
            panic!("one library expected: {on:#?}")
        };
        (
            on.cc.to_string(),
            one.runs,
            one.fatbins,
            one.covered,
            one.jit,
        )
    });
    let figures: Vec<_> = figures.collect();
    assert_eq!(
        figures,
        [
            ("8.0".to_owned(), Runs::Native, 4, 4, 0),
            ("9.0".to_owned(), Runs::Jit, 4, 4, 1),
        ]
    );
}

#[test]
fn states_of_fatbins_add_up_to_the_figures() {
    use crate::policy::Policy;
    use crate::tables::Tables;

    let library = lib("pkg/_C.so")
        .fatbin("sm_80 sm_90", 3)
        .fatbin("sm_80 sm_86", 2);
    let inventory = wheel("pkg", "1.0").with(library).inventory();
    let tables = Tables::builtin();
    let policy = Policy::for_targets(&["9.0"], Some("580.65.06"), None, tables).unwrap();
    let target = &policy.targets[0];
    let artifact = &inventory.artifacts[0];
    let states = fatbins(
        artifact,
        &artifact.libraries[0],
        target,
        &target.gpus[0],
        tables,
    );
    let states: Vec<_> = states.iter().map(|one| (one.count, one.state)).collect();
    assert_eq!(states, [(3, State::Native), (2, State::None)]);
}
