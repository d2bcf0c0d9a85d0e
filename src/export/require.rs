//! The requirement for container tools that fits what content needs: `NVIDIA_REQUIRE_CUDA`.
//!
//! In the grammar of `nvidia-container-cli` (`dsl.c`): blanks for OR, commas for AND; `cuda`, `driver`, `arch` and
//! `brand`. Driver numbers are written without leading zeros, which the second tool that reads them
//! (`nvidia-container-runtime`) refuses.

use std::fmt;

use crate::compat::{Driver, Package};
use crate::cuda::{ComputeCapability, DriverSpec, ToolkitVersion};
use crate::image::Numbers;
use crate::platform::Os;
use crate::tables::Tables;
use crate::verdict::{Floor, Mechanism};

use super::compat::{HostBrand, forward_hosts};
use super::needs::{Needs, OnCapability, Runs};

/// Where the compute capabilities of a part end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Nowhere: GPUs to come run it too.
    Open,
    /// Below this one.
    Below(ComputeCapability),
    /// With this one, the newest that is known of its major version.
    With(ComputeCapability),
}

/// Compute capabilities side by side on which content needs the same driver.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// Those that the tables know, rising.
    pub capabilities: Vec<ComputeCapability>,
    /// Whether there is a known one below that does not run it, or needs another driver.
    pub has_start: bool,
    /// Where it ends.
    pub end: Bound,
    /// The oldest driver, with what asks for it; none where none is known.
    pub floor: Option<Floor>,
    /// Older drivers on which the image's own user-mode driver makes it run, by the brand of the GPU.
    pub hosts: Vec<HostBrand>,
}

/// What no GPU meets.
const NOWHERE: &str = "arch<1.0";

/// What container tools should require.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequireCuda {
    /// The value of the variable; none where content needs nothing, or what it needs is not known. Where it runs on no
    /// GPU, a value that no GPU meets.
    pub value: Option<String>,
    /// Its parts, by capability.
    pub parts: Vec<Part>,
}

impl RequireCuda {
    /// The requirement of an artifact, whose forward compatibility package is `package`.
    pub fn of(needs: &Needs, package: Option<&Package<'_>>, tables: &Tables) -> Self {
        let mut parts = if needs.is_of_cuda() && needs.os == Os::Linux {
            parts(needs, tables)
        } else {
            Vec::new()
        };
        if let Some(package) = package {
            for part in &mut parts {
                let floor = part.floor.as_ref().map(|floor| &floor.driver);
                part.hosts = floor.map_or_else(Vec::new, |floor| {
                    forward_hosts(package, &part.capabilities, floor, tables)
                });
            }
        }
        let terms: Vec<String> = parts
            .iter()
            .flat_map(|part| part.terms(tables))
            .filter(|term| !term.is_empty())
            .collect();
        let nowhere = needs.os == Os::Linux && needs.runs_nowhere() && !needs.is_incomplete();
        Self {
            value: if terms.is_empty() {
                nowhere.then(|| NOWHERE.to_owned())
            } else {
                Some(terms.join(" "))
            },
            parts,
        }
    }
}

impl Part {
    fn terms(&self, tables: &Tables) -> Vec<String> {
        let of_arch = self.arch();
        let term = |factors: Vec<String>| [factors, of_arch.clone()].concat().join(",");
        let mut terms = Vec::new();
        terms.push(term(
            self.floor
                .iter()
                .flat_map(|floor| of_driver(floor, tables))
                .collect(),
        ));
        for host in &self.hosts {
            let number = host.branch.0;
            terms.push(term(vec![
                format!("brand={}", host.brand),
                format!("driver>={number}"),
                format!("driver<{}", number + 1),
            ]));
        }
        terms
    }

    /// Conditions on the compute capability.
    fn arch(&self) -> Vec<String> {
        let first = self.capabilities.first();
        let start = first.filter(|_| self.has_start);
        match (start, self.end) {
            (Some(start), Bound::With(end)) if *start == end => vec![format!("arch={end}")],
            (start, end) => {
                let start = start.map(|cc| format!("arch>={cc}"));
                let end = match end {
                    Bound::Open => None,
                    Bound::Below(cc) => Some(format!("arch<{cc}")),
                    Bound::With(cc) => Some(format!("arch<={cc}")),
                };
                start.into_iter().chain(end).collect()
            }
        }
    }
}

impl fmt::Display for Part {
    /// `7.5 to 9.0`, `12.0 and newer`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.capabilities.first(), self.capabilities.last()) {
            (Some(first), _) if self.end == Bound::Open => write!(f, "{first} and newer"),
            (Some(first), Some(last)) if first != last => write!(f, "{first} to {last}"),
            (Some(only), _) => write!(f, "{only}"),
            (None, _) => Ok(()),
        }
    }
}

/// The CUDA version that drivers from a floor on report.
pub(crate) fn cuda_of(floor: &DriverSpec, tables: &Tables) -> Option<ToolkitVersion> {
    Driver::new(Some(floor.clone()), Os::Linux, tables).cuda()
}

fn of_driver(floor: &Floor, tables: &Tables) -> Vec<String> {
    let cuda = cuda_of(&floor.driver, tables).map(|cuda| format!("cuda>={cuda}"));
    let number = match &floor.driver {
        DriverSpec::Branch(branch) => Some(branch.0.to_string()),
        DriverSpec::Exact(version) => {
            Numbers::parse(&version.to_string()).map(|numbers| numbers.to_string())
        }
    };
    let driver = number.map(|number| format!("driver>={number}"));
    cuda.into_iter().chain(driver).collect()
}

/// A part that is not at its end yet.
struct Open {
    part: Part,
    /// The oldest driver that knows one of its GPUs, where content asks for less.
    of_gpu: Option<Floor>,
    /// Whether it runs on what stands for unknown GPUs above the last one.
    beyond: bool,
}

/// Divides the capabilities on which content runs by what it asks of the driver.
fn parts(needs: &Needs, tables: &Tables) -> Vec<Part> {
    let driver = Driver::new(None, needs.os, tables);
    let older = |a: &Floor, b: &Floor| driver.compare(&a.driver, &b.driver).is_lt();
    let mut parts: Vec<Part> = Vec::new();
    let mut open: Option<Open> = None;
    let mut below = false;
    let newest = needs.covered().last().map(|on| on.cc);
    for on in &needs.on {
        // nobody makes new GPUs of an older major version
        if !on.known && Some(on.cc) < newest {
            continue;
        }
        if on.runs == Runs::No {
            parts.extend(open.take().map(|open| open.ended_before(on)));
            below = true;
            continue;
        }
        let fits = |open: &Open| {
            let (content, gpu) = (on.of_content(), on.floor.as_ref());
            match (&open.part.floor, content) {
                (Some(have), Some(asked)) => have.driver == asked.driver,
                // drivers that know the GPU meet what the part asks for
                (Some(have), None) => gpu.is_none_or(|gpu| !older(gpu, have)),
                (None, Some(asked)) => open.of_gpu.as_ref().is_some_and(|gpu| !older(gpu, asked)),
                (None, None) => true,
            }
        };
        match &mut open {
            None if !on.known => {}
            Some(open) if !on.known || fits(open) => open.take(on, &driver),
            _ => {
                let before = open.take().map(|open| open.ended_before(on));
                let has_start = below || before.is_some();
                parts.extend(before);
                let mut new = Open {
                    part: Part {
                        capabilities: Vec::new(),
                        has_start,
                        end: Bound::Open,
                        floor: None,
                        hosts: Vec::new(),
                    },
                    of_gpu: None,
                    beyond: false,
                };
                new.take(on, &driver);
                open = Some(new);
            }
        }
    }
    parts.extend(open.map(|open| open.ended(Bound::Open)));
    parts
}

impl Open {
    fn take(&mut self, on: &OnCapability, driver: &Driver<'_>) {
        self.beyond = !on.known;
        if !on.known {
            return;
        }
        self.part.capabilities.push(on.cc);
        if let Some(asked) = on.of_content() {
            self.part.floor.get_or_insert_with(|| asked.clone());
        } else if let Some(gpu) = &on.floor {
            let older = |have: &Floor| driver.compare(&gpu.driver, &have.driver).is_lt();
            if self.of_gpu.as_ref().is_none_or(older) {
                self.of_gpu = Some(gpu.clone());
            }
        }
    }

    fn ended_before(self, on: &OnCapability) -> Part {
        let last = self.part.capabilities.last().copied();
        let end = match last {
            Some(last) if !on.known && !self.beyond => Bound::With(last),
            _ => Bound::Below(on.cc),
        };
        self.ended(end)
    }

    fn ended(mut self, end: Bound) -> Part {
        self.part.end = end;
        self.part.floor = self.part.floor.or(self.of_gpu);
        self.part
    }
}

impl Part {
    /// Whether a driver that is older than its GPUs is all that it excludes.
    pub fn asks_for_gpu_only(&self) -> bool {
        let floor = self.floor.as_ref().map(|floor| &floor.mechanism);
        matches!(floor, Some(Mechanism::Gpu(_)))
    }
}
