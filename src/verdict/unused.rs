//! Scopes of the policy that are about nothing that was judged: a misspelled one would leave a rule weaker than
//! its author believes.

use crate::inventory::{Artifact, Inventory};
use crate::policy::{Policy, Scope, WaiverSubject};
use crate::rule::Code;

use super::finding::Finding;

/// Findings about the scopes of `policy` that fit no package and library of `inventory` and none of `findings`.
pub(super) fn scopes(policy: &Policy, inventory: &Inventory, findings: &[Finding]) -> Vec<Finding> {
    let unused = policy.scopes.iter().filter(|scope| {
        let is_about = |artifact: &Artifact| is_about(scope, artifact);
        !inventory.artifacts.iter().any(is_about)
            && !findings
                .iter()
                .any(|finding| scope.matches(&finding.subject()))
    });
    let finding = |scope: &Scope| {
        let message = "a scope is about nothing that was judged";
        let next_step = "check its package, version and library for a wrong spelling: `smgate inspect INPUT` \
             lists what there is";
        let mut finding =
            Finding::new(Code::ScopeUnused, message, next_step).of_policy(&scope.place);
        finding.level = policy.level(finding.code);
        finding
    };
    unused.map(finding).collect()
}

/// Whether the scope is about a package of the artifact, or about a library of it. Its targets are those of the
/// policy, on which everything is judged.
fn is_about(scope: &Scope, artifact: &Artifact) -> bool {
    let anything = WaiverSubject {
        target: scope.targets.first().map(String::as_str),
        ..WaiverSubject::default()
    };
    let own = WaiverSubject {
        package: artifact.name.as_deref(),
        version: artifact.version.as_deref(),
        ..anything
    };
    let of = |index: usize| {
        let package = artifact.packages.get(index);
        WaiverSubject {
            package: package.map(|package| package.name.as_str()),
            version: package.and_then(|package| package.version.as_deref()),
            ..anything
        }
    };
    let packages = (0..artifact.packages.len()).map(of);
    let libraries = artifact.libraries.iter().map(|library| WaiverSubject {
        library: Some(&library.path),
        ..library.package.map_or(anything, of)
    });
    let mut subjects = [anything, own].into_iter().chain(packages).chain(libraries);
    subjects.any(|subject| scope.matches(&subject))
}
