//! The configuration of an image: platform, environment, labels, and what it says of the layers.

use std::collections::BTreeMap;

use oci_spec::image::ImageConfiguration;

use super::ImageConfig;
use super::json::parse;
use crate::archive::Fault;

/// What a configuration says.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) config: ImageConfig,
    pub(super) diff_ids: Vec<String>,
    /// The step that made each layer; empty where the history has not one step for each.
    created_by: Vec<String>,
}

impl Read {
    pub(super) fn from_json(bytes: &[u8]) -> Result<Self, Fault> {
        let read: ImageConfiguration = parse(bytes, "image configuration")?;
        let said = |text: String| (!text.is_empty()).then_some(text);
        let inner = read.config().as_ref();
        let labels = inner.and_then(|inner| inner.labels().as_ref());
        let labels: BTreeMap<String, String> = labels
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let history = read.history().iter().flatten();
        let created_by = history
            .filter(|step| step.empty_layer() != Some(true))
            .map(|step| without_arguments(step.created_by().as_deref().unwrap_or_default()));
        Ok(Self {
            config: ImageConfig {
                os: said(read.os().to_string()),
                architecture: said(read.architecture().to_string()),
                variant: read.variant().clone().and_then(said),
                env: inner
                    .and_then(|inner| inner.env().clone())
                    .unwrap_or_default(),
                labels,
            },
            diff_ids: read.rootfs().diff_ids().clone(),
            created_by: created_by.collect(),
        })
    }

    /// The platform, `linux/amd64`, where it says one.
    pub(super) fn platform(&self) -> Option<String> {
        let ImageConfig {
            os,
            architecture,
            variant,
            ..
        } = &self.config;
        let mut platform = format!("{}/{}", os.as_ref()?, architecture.as_ref()?);
        if platform == UNKNOWN {
            return None;
        }
        if let Some(variant) = variant {
            platform.push('/');
            platform.push_str(variant);
        }
        Some(platform)
    }

    /// The step that made the layer with this index, out of `layers`.
    pub(super) fn created_by(&self, index: usize, layers: usize) -> Option<String> {
        // with another number of steps nobody knows which step made which layer
        let step = self
            .created_by
            .get(index)
            .filter(|_| self.created_by.len() == layers)?;
        (!step.is_empty()).then(|| step.clone())
    }
}

/// A build step without the values of its arguments, which builders write before the shell (`RUN |1 TOKEN=x /bin/sh -c
/// make`): they are often secrets, and reports are often public.
fn without_arguments(step: &str) -> String {
    const LEFT_OUT: &str = "(arguments)";
    let is_count = |rest: &str| {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        digits > 0 && rest.get(digits..).is_some_and(|rest| rest.starts_with(' '))
    };
    let bars = step.match_indices('|').map(|(at, _)| at);
    let mut bars = bars.filter(|at| {
        let before = step.get(..*at).unwrap_or_default().trim();
        matches!(before, "" | "RUN") && step.get(at + 1..).is_some_and(is_count)
    });
    let Some(bar) = bars.next() else {
        return step.to_owned();
    };
    let (head, rest) = step.split_at(bar);
    // a value may hold the name of a shell: the last that is called is the one
    let shells = [
        "/bin/sh -c ",
        "/bin/bash -c ",
        "/bin/bash -o pipefail -c ",
        "cmd /S /C ",
    ];
    let command = shells.iter().filter_map(|shell| rest.rfind(shell)).max();
    let command = command.and_then(|at| rest.get(at..)).unwrap_or_default();
    format!("{head}{LEFT_OUT} {command}").trim_end().to_owned()
}

/// The platform of what is no image, as BuildKit writes it.
pub(super) const UNKNOWN: &str = "unknown/unknown";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_build_arguments_are_left_out() {
        for (step, expected) in [
            (
                "RUN |2 TOKEN=hunter2 B=c d /bin/sh -c pip install torch # buildkit",
                "RUN (arguments) /bin/sh -c pip install torch # buildkit",
            ),
            (
                "|1 TOKEN=hunter2 /bin/sh -c make",
                "(arguments) /bin/sh -c make",
            ),
            ("|1 TOKEN=hunter2 python setup.py", "(arguments)"),
            ("/bin/sh -c a | 1 b", "/bin/sh -c a | 1 b"),
            ("RUN /bin/sh -c cat x |1 y", "RUN /bin/sh -c cat x |1 y"),
            ("COPY . /app # buildkit", "COPY . /app # buildkit"),
            ("", ""),
        ] {
            assert_eq!(without_arguments(step), expected);
        }
    }
}
