//! What stands below the options of `--help`: examples, and how commands end.
//!
//! A test types every example: lines that begin with `smgate`, up to a `|` or a `>` by itself.

pub(super) const ALL: &str = "\
Examples:
  smgate check torch-2.9.1-cp312-cp312-manylinux_2_28_x86_64.whl --target H100 --driver 550.54.15
  smgate check . --policy smgate.yaml
  smgate explain no-kernel-image

`smgate COMMAND --help` has examples of each command, and all of its options; `smgate COMMAND -h` is one screen.";

pub(super) const CHECK: &str = "\
Examples:
  One wheel on one GPU:
    smgate check demo-1.0-cp312-cp312-linux_x86_64.whl --target H100 --driver 550.54.15
  An environment against the policy of its project, with a report for a code host:
    smgate check .venv --policy smgate.yaml --output sarif=smgate.sarif
  An image of a registry, on the instances of two pools:
    smgate check registry:registry.example/app:1.0 --target aws:g5.xlarge --target aws:p5.48xlarge
  A lock file, without asking servers:
    smgate check uv.lock --target L4 --driver R550 --python 3.12 --offline
  Only what is new:
    smgate check . --write-baseline baseline.json
    smgate check . --baseline baseline.json
  The result alone, or everything about each fatbin:
    smgate check . --quiet
    smgate check . --verbose

Exit status: 0 pass, 1 the policy denies something, 2 nothing could be judged (usage, policy, input), \
3 something could not be read and nothing else failed";

pub(super) const DIFF: &str = "\
Examples:
  A new version of a wheel:
    smgate diff demo-1.0-py3-none-linux_x86_64.whl demo-1.1-py3-none-linux_x86_64.whl --target T4
  What an update of the lock file changes, with saved facts of the one before:
    smgate inspect uv.lock --format json > before.json
    smgate diff before.json uv.lock --policy smgate.yaml

Exit status: 0 nothing got worse, 1 a target fails that did not, or the policy denies more than before (with \
`--fail-on warn`, or warns more), 2 nothing could be compared (usage, policy, input), 3 something could not be read \
and nothing got worse";

pub(super) const FIND: &str = "\
Examples:
  Which torch is the newest with code for a GTX 1060, of your index and of PyTorch's own builds for CUDA 12.6?
    smgate find torch --target gtx1060 --driver R580 --extra-index-url https://INDEX/whl/cu126
  The newest of a series for every target of a policy:
    smgate find torch>=2.5,<2.9 --policy smgate.yaml

Of each index and each local label (`+cu126`) the newest build is read first, by parts of its file. Where it does not \
run, older ones follow in leaps, then the gap is halved. What runs was read and judged as `check` does; a newer build \
that was not read may run too.

Exit status: 0 something runs on every target, 1 on some target nothing does that was read, 2 nothing could be looked \
for (usage, policy, index), 3 on some target something could not be read and nothing else runs";

pub(super) const INSPECT: &str = "\
Examples:
  What a wheel holds, and how many megabytes of it are for which architecture:
    smgate inspect demo-1.0-cp312-cp312-linux_x86_64.whl --verbose
  Facts of an image, to be judged later:
    smgate inspect oci-dir:image --format json > image.json
    smgate check --inventory image.json --target H100
  An image as `docker save` writes it:
    docker save app:1.0 | smgate inspect -

Exit status: 0 everything was read, 2 nothing could be read (usage, input), 3 something could not be read";

pub(super) const EXPORT: &str = "\
Examples:
  A line for the Dockerfile of an image, with the reasons:
    smgate export require-cuda docker:app:1.0
  Its value alone, of saved facts:
    smgate export require-cuda --value --inventory image.json
  A specification for `nfd compat validate-node`:
    smgate export nfd registry:registry.example/app:1.0 > compat.yaml
  A bill of materials:
    smgate export cyclonedx .venv > bom.json

Exit status: 0 everything was read, 2 nothing could be read (usage, input), 3 something could not be read";

pub(super) const EXPLAIN: &str = "\
Examples:
  A rule, and what is often said and not true:
    smgate explain partial-coverage
    smgate explain folklore
  An error as it was printed, or a whole log:
    smgate explain CUDA error: no kernel image is available for execution on the device
    smgate explain - < train.log

Exit status: 0 explained, 2 unknown";

pub(super) const FACTS: &str = "\
Examples:
    smgate facts gpu RTX 4090
    smgate facts driver R550
    smgate facts toolkit 12.8
    smgate facts instance aws:p5.48xlarge --format json

Exit status: 0 found, 2 unknown or ambiguous";

pub(super) const POLICY: &str = "\
Examples:
    smgate policy init --target H100 --target L4 --driver R550
    smgate policy lint
    smgate policy show preset:mixed-fleet";

pub(super) const POLICY_INIT: &str = "\
Examples:
    smgate policy init --target H100 --target L4 --driver R550
    smgate policy init --target aws:p5.48xlarge --platform linux/amd64 --output fleet.yaml

Exit status: 0 written, 2 not (usage, the file is there)";

pub(super) const POLICY_LINT: &str = "\
Examples:
    smgate policy lint
    smgate policy lint smgate.yaml preset:mixed-fleet --today 2027-03-01

Exit status: 0 no mistake, 2 mistakes, each with its place";

pub(super) const POLICY_SHOW: &str = "\
Examples:
    smgate policy show
    smgate policy show preset:mixed-fleet --format json

Exit status: 0 shown, 2 there is none, or it has mistakes";

pub(super) const HOST: &str = "\
Examples:
    smgate host
    smgate host --format json

Exit status: 0 the GPUs are known, 2 there is none whose compute capability is known";

pub(super) const CACHE: &str = "\
Examples:
    smgate cache size
    smgate cache clear";

pub(super) const COMPLETIONS: &str = "\
Examples:
    smgate completions bash > /etc/bash_completion.d/smgate
    smgate completions fish > ~/.config/fish/completions/smgate.fish";

pub(super) const MAN: &str = "\
Examples:
    smgate man check | man -l -
    smgate man --dir man1";
