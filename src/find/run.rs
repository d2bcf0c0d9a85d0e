//! Looks at what indexes have, build by build.

use std::collections::BTreeMap;

use crate::inventory::{Environment, Inventory, LockFacts, LockKind, scan_sources};
use crate::policy::Policy;
use crate::source::{LockFile, Source};
use crate::tables::Tables;
use crate::verdict::environment;
use crate::{Error, ErrorKind, Locator};

use super::install::Install;
use super::judge::{Judged, Judges};
use super::search::{Outcome, Trail, search};
use super::stock::{Build, Offer, Series, Stock, Wanted};
use super::{Available, Failing, FindOptions, Found, OfSeries, OnTarget, Running};

/// Finds the newest builds of `offers` that run on each target of `policy`.
///
/// # Errors
///
/// Where no target gets any build of what is wanted.
pub fn find(
    offers: &[Offer],
    wanted: &Wanted,
    policy: &Policy,
    tables: &Tables,
    options: &FindOptions,
) -> Result<Found, Error> {
    let mut places: Vec<(Environment, Stock)> = Vec::new();
    // the environment of each target, by number
    let mut of_targets = Vec::new();
    for target in &policy.targets {
        let environment = environment(target);
        let known = places.iter().position(|(place, _)| *place == environment);
        let number = known.unwrap_or_else(|| {
            let stock = Stock::of(offers, wanted, &environment);
            places.push((environment, stock));
            places.len() - 1
        });
        of_targets.push(number);
    }
    if places.iter().all(|(_, stock)| stock.series.is_empty()) {
        return Err(nothing(wanted, &places));
    }
    // what is searched: a series for a target
    let mut tasks: Vec<(usize, &Series)> = Vec::new();
    for (target, place) in of_targets.iter().enumerate() {
        let series = places.get(*place).into_iter();
        let series = series.flat_map(|(_, stock)| &stock.series);
        tasks.extend(series.map(|series| (target, series)));
    }
    let mut reader = Reader {
        places: &places,
        judges: Judges::new(policy, tables, options.today),
        tables,
        options,
        known: BTreeMap::new(),
        fetched: 0,
        error: None,
    };
    let counts: Vec<usize> = tasks
        .iter()
        .map(|(_, series)| series.builds.len())
        .collect();
    let trails = search(&counts, &mut |task, build| {
        let (target, series) = tasks.get(task)?;
        reader.outcome(series.builds.get(build)?, *target)
    });
    if let Some(error) = reader.error {
        return Err(error);
    }
    let mut targets: Vec<OnTarget> = policy
        .targets
        .iter()
        .zip(of_targets)
        .map(|(target, environment)| OnTarget {
            name: target.name.clone(),
            gpus: target.gpus.iter().map(ToString::to_string).collect(),
            driver: target.driver.as_ref().map(ToString::to_string),
            environment,
            series: Vec::new(),
        })
        .collect();
    for ((target, series), trail) in tasks.iter().zip(&trails) {
        let of_series = reader.known_of(series, trail, *target);
        let summary = summary(series, trail, &of_series, offers, wanted);
        if let Some(target) = targets.get_mut(*target) {
            target.series.push(summary);
        }
    }
    let available = |(environment, stock): &(Environment, Stock)| Available {
        environment: title(environment),
        builds: stock.series.iter().map(|s| s.builds.len() as u64).sum(),
        passed: stock.passed,
    };
    Ok(Found {
        requirement: wanted.text.clone(),
        name: wanted.name.clone(),
        policy: policy.origin().to_owned(),
        tables: tables.origin(),
        indexes: offers
            .iter()
            .map(|offer| (offer.index.clone(), offer.how))
            .collect(),
        read: reader.known.len() as u64,
        fetched: reader.fetched,
        environments: places.iter().map(available).collect(),
        targets,
        most: options.most,
    })
}

fn title(environment: &Environment) -> String {
    let mut facts = LockFacts::new(LockKind::Requirements, environment.clone());
    facts.python = environment.python;
    facts.title()
}

/// Why there is nothing to look at.
fn nothing(wanted: &Wanted, places: &[(Environment, Stock)]) -> Error {
    let titles: Vec<String> = places.iter().map(|(place, _)| title(place)).collect();
    let passed = places.iter().map(|(_, stock)| stock.passed);
    let sum = |of: fn(&super::Passed) -> u64| passed.clone().map(|passed| of(&passed)).max();
    let sources = sum(|passed| passed.source_only).unwrap_or(0);
    let others = sum(|passed| passed.no_file + passed.without_cuda).unwrap_or(0);
    let message = format!(
        "no index has a wheel of `{}` for {}: of its versions {sources} are source distributions, {others} are for \
         other machines or without CUDA",
        wanted.text,
        titles.join(" or ")
    );
    Error::new(ErrorKind::Input, message).with_hint(
        "name the index that has such builds with `--extra-index-url URL`, or give the Python and the platform with \
         `--python` and `--platform`",
    )
}

/// Reads builds, each once.
struct Reader<'f> {
    places: &'f [(Environment, Stock)],
    judges: Judges<'f>,
    tables: &'f Tables,
    options: &'f FindOptions,
    /// What each build that was read is, for each target that gets it.
    known: BTreeMap<(String, String), Vec<Option<Judged>>>,
    fetched: u64,
    error: Option<Error>,
}

impl Reader<'_> {
    /// What a build is for a target; nothing where no more may be read.
    fn outcome(&mut self, build: &Build, target: usize) -> Option<Outcome> {
        let key = build.key();
        if !self.known.contains_key(&key) {
            if self.known.len() as u64 >= self.options.most || self.error.is_some() {
                return None;
            }
            match self.scan(build) {
                Ok(inventory) => {
                    self.known
                        .insert(key.clone(), self.judges.judge(&inventory));
                }
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            }
        }
        let judged = self.known.get(&key)?.get(target)?.as_ref();
        Some(judged.map_or(Outcome::Unread, |judged| judged.outcome))
    }

    /// Scans the file of a build for every environment that gets it.
    fn scan(&mut self, build: &Build) -> Result<Inventory, Error> {
        let key = build.key();
        let gets = |stock: &Stock| {
            let mut builds = stock.series.iter().flat_map(|series| &series.builds);
            builds.any(|build| build.key() == key)
        };
        let environments = self.places.iter().filter(|(_, stock)| gets(stock));
        let mut options = self.options.scan.clone();
        options.environments = environments
            .map(|(environment, _)| environment.clone())
            .collect();
        let at = format!("{}=={}", build.pick.name, build.version);
        let lock = LockFile::of_pick(&build.pick, Locator::root(0, at));
        let inventory = scan_sources(vec![Source::Lock(lock)], &options, self.tables)?;
        let locks = inventory.artifacts.iter().filter_map(|a| a.lock.as_ref());
        // one file, whichever environment it was read for
        self.fetched += locks.map(|lock| lock.fetched).max().unwrap_or(0);
        Ok(inventory)
    }

    /// What is known of the builds of a series for a target, by their numbers.
    fn known_of(&self, series: &Series, trail: &Trail, target: usize) -> BTreeMap<usize, Judged> {
        let judged = trail.known.keys().filter_map(|at| {
            let build = series.builds.get(*at)?;
            let judged = self.known.get(&build.key())?.get(target)?.clone()?;
            Some((*at, judged))
        });
        judged.collect()
    }
}

fn summary(
    series: &Series,
    trail: &Trail,
    judged: &BTreeMap<usize, Judged>,
    offers: &[Offer],
    wanted: &Wanted,
) -> OfSeries {
    let running = |at: usize| -> Option<Running> {
        let (build, judged) = (series.builds.get(at)?, judged.get(&at)?);
        let offer = offers.get(series.offer)?;
        let version = build.version.to_string();
        let file = build.pick.file.as_ref()?;
        Some(Running {
            file: file.name.clone(),
            size: file.size,
            minimum_driver: judged.minimum_driver.clone(),
            warnings: judged.warnings.clone(),
            install: Install::of(wanted, &version, offer.how, &offer.index),
            version,
        })
    };
    let failing = || -> Option<Failing> {
        let outcome = trail.known.get(&0).filter(|outcome| !outcome.runs())?;
        let build = series.builds.first()?;
        let judged = judged.get(&0);
        Some(Failing {
            version: build.version.to_string(),
            file: build.pick.file.as_ref()?.name.clone(),
            is_read: *outcome != Outcome::Unread,
            why: judged.and_then(|judged| judged.why.clone()),
            minimum_driver: judged.and_then(|judged| judged.minimum_driver.clone()),
        })
    };
    let has = |wanted: Outcome| trail.known.values().any(|outcome| *outcome == wanted);
    OfSeries {
        index: series.offer,
        label: series.label.clone(),
        builds: series.builds.len() as u64,
        read: trail.known.len() as u64,
        cut: trail.cut,
        native: trail.native().and_then(running),
        jit: trail.jit().and_then(running),
        newest: failing(),
        unread: has(Outcome::Unread),
        gpu_too_new: has(Outcome::GpuTooNew),
    }
}
