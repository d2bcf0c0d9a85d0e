//! Invariants of container words.

use super::super::Tables;
use super::Broken;
use crate::cuda::ComputeCapability;

/// Brands are unique, rules name them and leave no GPU out, names stand for capabilities.
pub(super) fn words(tables: &Tables, broken: &mut Broken) {
    let table = tables.container_table();
    broken.rising("brands", table.brands.iter().map(|row| row.id));
    let rows = table.brands.iter();
    broken.sourced(rows.map(|row| (&row.brand, row.sources.as_slice(), None)));
    let rules = table.rules.iter();
    broken.sourced(rules.map(|row| (&row.name, row.sources.as_slice(), row.note.as_ref())));
    for rule in &table.rules {
        for brand in &rule.brands {
            let known = table.brands.iter().any(|row| row.brand == *brand);
            broken.unless(known, || {
                format!("brands of `{}`: `{brand}` is no brand", rule.name)
            });
        }
    }
    let last = table.rules.last();
    broken.unless(
        last.is_some_and(|rule| rule.name == "*" && rule.class.is_none()),
        || "brands: the last rule is not for every GPU".to_owned(),
    );
    let rows = table.names.iter();
    broken.sourced(rows.map(|row| (&row.name, row.sources.as_slice(), None)));
    for row in &table.names {
        let plain = |item: &String| {
            let cc = item.strip_suffix("+PTX").unwrap_or(item);
            cc.parse::<ComputeCapability>().is_ok()
        };
        broken.unless(!row.list.is_empty() && row.list.iter().all(plain), || {
            format!("name `{}` stands for no capabilities", row.name)
        });
    }
    let capabilities = &table.capabilities;
    broken.sourced([("driver capabilities", capabilities.sources.as_slice(), None)]);
    broken.unless(
        capabilities
            .default
            .iter()
            .all(|name| capabilities.supported.contains(name)),
        || "driver capabilities: a default is not supported".to_owned(),
    );
}
