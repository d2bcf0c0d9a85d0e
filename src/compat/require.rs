//! Whether a GPU and a driver meet what an image requires (`NVIDIA_REQUIRE_*`), and which drivers would.
//!
//! Evaluated as `nvidia-container-cli` does (`dsl.c` of libnvidia-container): `cuda` is what the host's driver
//! reports, whatever forward compatibility libraries the image holds; `brand` is that of NVML. A brand or a
//! driver that is not known makes an answer unknown only where the answer depends on it.

use super::driver::Driver;
use crate::cuda::{ComputeCapability, DriverBranch, DriverSpec};
use crate::image::{
    Compare, Factor, Numbers, Property, Requirement, Requirements, Term, Test, Tool,
};
use crate::platform::Os;
use crate::tables::Tables;

/// Where requirements are enforced, in a sentence.
pub const ENFORCED: &str = "`docker run --gpus` checks it (`nvidia-container-cli`) and so does the csv mode of Tegra \
     (`cuda` and `arch` only); with CDI devices, on Kubernetes with CDI, and with `--runtime=nvidia` since toolkit \
     1.18 nobody does: the container starts, and CUDA fails by itself";

/// Where that is from.
pub const ENFORCED_SOURCE: &str = "callers of GetRequirements in https://github.com/NVIDIA/nvidia-container-toolkit \
     (hook_config.go, internal/info/auto.go, internal/modifier/csv.go)";

/// A machine as requirements see it.
#[derive(Debug, Clone)]
pub struct Host<'a> {
    /// Its kernel driver.
    pub driver: &'a Driver<'a>,
    /// What its GPU has.
    pub cc: ComputeCapability,
    /// The brands that its driver may report ([`Tables::brands_of`]); empty where none is known.
    pub brands: &'a [String],
}

/// Why an answer is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unsure {
    /// No driver is given.
    NoDriver,
    /// The tables do not know the driver's branch, or not its number on this system.
    DriverUnknown,
    /// The driver is given as a branch, of which some versions do.
    VersionInBranch,
    /// It depends on the brand that the driver reports.
    Brand,
}

/// Whether a machine meets what an image requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It does, or nothing is required.
    Met,
    /// It does not.
    Unmet(Unmet),
    /// The tool refuses the requirement itself.
    Refused {
        /// The variable.
        variable: String,
        /// The condition that it refuses.
        factor: String,
        /// Why, where that is more than a property that it does not know.
        why: &'static str,
    },
    /// It is not known.
    Unknown(Unsure),
}

/// A requirement that is not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The variable.
    pub variable: String,
    /// The first of its alternatives, which is the one that the tool names in its error.
    pub term: String,
    /// The drivers with which this GPU meets everything that the image requires.
    pub accepted: Accepted,
}

/// Drivers that requirements accept for a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accepted {
    /// Drivers below `from`, rising: branches that are accepted though some newer ones are not.
    pub single: Vec<DriverSpec>,
    /// The driver from which on all are, as far as the tables know branches.
    pub from: Option<DriverSpec>,
}

impl Accepted {
    /// The oldest of them: what the image declares as its minimum.
    pub fn lowest(&self) -> Option<&DriverSpec> {
        self.single.first().or(self.from.as_ref())
    }
}

impl std::fmt::Display for Accepted {
    /// `R525, R535, or R550 and newer`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut names: Vec<String> = self.single.iter().map(ToString::to_string).collect();
        names.extend(self.from.iter().map(|from| format!("{from} and newer")));
        match names.split_last() {
            None => f.write_str("no driver that is known"),
            Some((only, [])) => f.write_str(only),
            Some((last, rest)) => write!(f, "{}, or {last}", rest.join(", ")),
        }
    }
}

/// Whether `host` meets `requirements`.
pub fn requirements_met(requirements: &Requirements, host: &Host<'_>, tables: &Tables) -> Answer {
    match outcome(requirements, host, tables) {
        Outcome::Met => Answer::Met,
        Outcome::Unsure(why) => Answer::Unknown(why),
        Outcome::Refused(requirement, factor) => Answer::Refused {
            variable: requirement.variable.clone(),
            factor: factor.text.clone(),
            why: match factor.test {
                Test::Malformed(why) => why,
                _ => "it does not know the property",
            },
        },
        Outcome::Unmet(requirement) => {
            let first = requirement.terms.first();
            Answer::Unmet(Unmet {
                variable: requirement.variable.clone(),
                term: first.map_or_else(String::new, |term| term.text.clone()),
                accepted: accepted(requirements, host, tables),
            })
        }
    }
}

/// The drivers with which the GPU of `host` meets `requirements`, whatever its own driver is.
pub fn accepted(requirements: &Requirements, host: &Host<'_>, tables: &Tables) -> Accepted {
    let os = host.driver.os();
    let mut candidates: Vec<DriverSpec> = tables
        .branches()
        .iter()
        .map(|row| DriverSpec::Branch(row.branch))
        .collect();
    candidates.extend(named_versions(requirements));
    candidates.sort_by(|a, b| host.driver.compare(a, b));
    let mut single = Vec::new();
    let mut run = Vec::new();
    for candidate in candidates {
        let driver = Driver::new(Some(candidate.clone()), os, tables);
        let on = Host {
            driver: &driver,
            ..host.clone()
        };
        match outcome(requirements, &on, tables) {
            Outcome::Met => run.push(candidate),
            _ => single.append(&mut run),
        }
    }
    Accepted {
        single,
        from: run.into_iter().next(),
    }
}

/// The most exact versions that are tried beside the branches.
const VERSIONS_MAX: usize = 64;

/// Exact drivers that the requirements name.
fn named_versions(requirements: &Requirements) -> impl Iterator<Item = DriverSpec> {
    let terms = requirements.checked().iter().flat_map(|r| &r.terms);
    let factors = terms.flat_map(|term| &term.factors);
    let named = factors.filter_map(|factor| match &factor.test {
        Test::Version(Property::Driver, _, value) => value.to_string().parse().ok(),
        _ => None,
    });
    named.map(DriverSpec::Exact).take(VERSIONS_MAX)
}

/// What became of all requirements.
enum Outcome<'r> {
    Met,
    Unmet(&'r Requirement),
    Refused(&'r Requirement, &'r Factor),
    Unsure(Unsure),
}

/// The worst of all variables: one that is refused stops the container whatever the others are.
fn outcome<'r>(requirements: &'r Requirements, host: &Host<'_>, tables: &Tables) -> Outcome<'r> {
    let facts = Facts::of(host, tables);
    let mut worst = Outcome::Met;
    for requirement in requirements.checked() {
        match (of_variable(requirement, &facts), &worst) {
            (refused @ Outcome::Refused(..), _) => return refused,
            (unmet @ Outcome::Unmet(_), Outcome::Met | Outcome::Unsure(_)) => worst = unmet,
            (unsure @ Outcome::Unsure(_), Outcome::Met) => worst = unsure,
            _ => {}
        }
    }
    worst
}

/// One variable. Where the brand is not known for sure, it must be the same for each that it may be.
fn of_variable<'r>(requirement: &'r Requirement, facts: &Facts<'_>) -> Outcome<'r> {
    let mut outcomes = facts
        .brands
        .iter()
        .map(|brand| of_brand(requirement, facts, brand));
    let first = outcomes.next().unwrap_or(Outcome::Unsure(Unsure::Brand));
    let same = |other: Outcome<'_>| match (&first, other) {
        (Outcome::Refused(_, a), Outcome::Refused(_, b)) => *a == b,
        (Outcome::Unsure(a), Outcome::Unsure(b)) => *a == b,
        (Outcome::Met, Outcome::Met) | (Outcome::Unmet(_), Outcome::Unmet(_)) => true,
        _ => false,
    };
    if outcomes.all(same) {
        first
    } else {
        Outcome::Unsure(Unsure::Brand)
    }
}

/// Terms are read from left to right until one holds, and what is refused stops that.
fn of_brand<'r>(requirement: &'r Requirement, facts: &Facts<'_>, brand: &str) -> Outcome<'r> {
    let mut unsure = None;
    for term in &requirement.terms {
        match of_term(term, facts, brand) {
            // whether or not an earlier one does
            Is::Yes => return Outcome::Met,
            Is::No => {}
            Is::Unsure(why) => unsure = unsure.or(Some(why)),
            Is::Refused(factor) => {
                return unsure.map_or(Outcome::Refused(requirement, factor), Outcome::Unsure);
            }
        }
    }
    match unsure {
        Some(why) => Outcome::Unsure(why),
        None if requirement.terms.is_empty() => Outcome::Met,
        None => Outcome::Unmet(requirement),
    }
}

/// What a condition or a term is.
enum Is<'r> {
    Yes,
    No,
    Unsure(Unsure),
    Refused(&'r Factor),
}

fn of_term<'r>(term: &'r Term, facts: &Facts<'_>, brand: &str) -> Is<'r> {
    let mut unsure = None;
    for factor in &term.factors {
        match of_factor(factor, facts, brand) {
            Is::Yes => {}
            Is::No => return Is::No,
            Is::Unsure(why) => unsure = unsure.or(Some(why)),
            Is::Refused(factor) => return unsure.map_or(Is::Refused(factor), Is::Unsure),
        }
    }
    unsure.map_or(Is::Yes, Is::Unsure)
}

fn of_factor<'r>(factor: &'r Factor, facts: &Facts<'_>, brand: &str) -> Is<'r> {
    if factor.refused_by.contains(&Tool::Cli) {
        return Is::Refused(factor);
    }
    match &factor.test {
        Test::Brand { is, brand: wanted } if (wanted == brand) == *is => Is::Yes,
        Test::Brand { .. } => Is::No,
        Test::Version(property, compare, value) => {
            let has = match property {
                Property::Cuda => &facts.cuda,
                Property::Driver => &facts.driver,
                Property::Arch => &facts.arch,
            };
            has.compare(*compare, value)
        }
        Test::Unknown(_) | Test::Malformed(_) => Is::Refused(factor),
    }
}

/// What is known of a version: it is at least `from`, and below `below`.
struct Known {
    from: Numbers,
    below: Option<Numbers>,
    /// Whether it is `from`.
    exact: bool,
}

/// A version, or why there is none.
struct Value(Result<Known, Unsure>);

impl Value {
    fn exactly(numbers: Numbers) -> Self {
        Self(Ok(Known {
            from: numbers,
            below: None,
            exact: true,
        }))
    }

    fn compare(&self, compare: Compare, value: &Numbers) -> Is<'static> {
        let known = match &self.0 {
            Ok(known) => known,
            Err(why) => return Is::Unsure(*why),
        };
        // whether it is at least `value`, and whether it is greater; none where both may be
        let reaches = |ok: bool, never: bool| match (ok, never || known.exact) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        };
        let ends = known.below.as_ref().is_some_and(|below| below <= value);
        let at_least = reaches(known.from >= *value, ends);
        let greater = reaches(known.from > *value, ends);
        let equal = match (at_least, greater) {
            (Some(false), _) | (_, Some(true)) => Some(false),
            (Some(true), Some(false)) => Some(true),
            _ => None,
        };
        let answer = match compare {
            Compare::GreaterEqual => at_least,
            Compare::Less => at_least.map(|is| !is),
            Compare::Greater => greater,
            Compare::LessEqual => greater.map(|is| !is),
            Compare::Equal => equal,
            Compare::NotEqual => equal.map(|is| !is),
        };
        match answer {
            Some(true) => Is::Yes,
            Some(false) => Is::No,
            None if known.below.is_some() => Is::Unsure(Unsure::VersionInBranch),
            None => Is::Unsure(Unsure::DriverUnknown),
        }
    }
}

/// The properties of a machine.
struct Facts<'a> {
    cuda: Value,
    driver: Value,
    arch: Value,
    /// The brands that it may be of.
    brands: Vec<&'a str>,
}

impl<'a> Facts<'a> {
    fn of(host: &Host<'a>, tables: &'a Tables) -> Self {
        let mut brands: Vec<&str> = host.brands.iter().map(String::as_str).collect();
        if brands.is_empty() {
            brands.extend(tables.brands().iter().map(|row| row.brand.as_str()));
        }
        let cc = [host.cc.major, host.cc.minor].map(u64::from);
        Self {
            cuda: Value(cuda(host.driver)),
            driver: Value(number(host.driver, tables)),
            arch: Value::exactly(Numbers::new(cc)),
            brands,
        }
    }
}

/// The CUDA version that the driver reports.
fn cuda(driver: &Driver<'_>) -> Result<Known, Unsure> {
    driver.spec().ok_or(Unsure::NoDriver)?;
    let row = driver.branch().ok_or(Unsure::DriverUnknown)?;
    Ok(Known {
        from: Numbers::new([row.cuda.major, row.cuda.minor].map(u64::from)),
        below: None,
        // of a branch that is not listed, the one below says the least
        exact: driver.known_branch() == Some(row.branch),
    })
}

/// The number of the driver.
fn number(driver: &Driver<'_>, tables: &Tables) -> Result<Known, Unsure> {
    let branch = match driver.spec().ok_or(Unsure::NoDriver)? {
        DriverSpec::Exact(version) => {
            let known = Numbers::parse(&version.to_string()).map(Value::exactly);
            return known.map_or(Err(Unsure::DriverUnknown), |value| value.0);
        }
        DriverSpec::Branch(branch) => *branch,
    };
    if driver.os() != Os::Linux {
        // the numbers of a branch are others there, and not all are known
        return Err(Unsure::DriverUnknown);
    }
    let DriverBranch(first) = branch;
    let rows = tables.driver_numbers(Os::Linux).iter();
    let mut own = rows.filter(|row| row.branch == branch);
    // an open range ends nowhere
    let last = own.try_fold(first, |last, row| Some(last.max(row.to?)));
    Ok(Known {
        from: Numbers::new([first.into()]),
        below: last.map(|last| Numbers::new([u64::from(last) + 1])),
        exact: false,
    })
}

#[cfg(test)]
mod tests;
