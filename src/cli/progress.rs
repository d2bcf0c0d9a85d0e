//! One line on the terminal that says how far a scan is. It is gone before the report, and never in a pipe or a file.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::inventory::{Counts, Progress};

/// Time between two lines.
const STEP: Duration = Duration::from_millis(200);
/// Lines over which the rate is taken: two seconds.
const SAMPLES: usize = 11;
/// Fewer bytes than this are read before anyone has looked.
const WORTH_SAYING: u64 = 100_000_000;
/// Bytes of a megabyte, as disks and networks are sold.
const MB: u64 = 1_000_000;

/// The line, until it is dropped.
pub(super) struct Line {
    progress: Arc<Progress>,
    /// Stops the writer when it is dropped.
    writer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Line {
    /// Starts the line, where standard error is a terminal; else nothing is counted.
    pub(super) fn start() -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let progress = Arc::new(Progress::default());
        let (stop, stopped) = mpsc::channel();
        let counters = Arc::clone(&progress);
        let writer = std::thread::Builder::new().spawn(move || {
            let started = Instant::now();
            let mut samples = VecDeque::new();
            let mut shown = 0_usize;
            while stopped.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                let counts = counters.counts();
                samples.push_back((started.elapsed(), counts.bytes));
                if samples.len() > SAMPLES {
                    samples.pop_front();
                }
                if let Some(line) = line(counts, rate(&samples)) {
                    let len = line.chars().count();
                    write(&format!(
                        "\r{line}{}",
                        " ".repeat(shown.saturating_sub(len))
                    ));
                    shown = len;
                }
            }
            if shown > 0 {
                write(&format!("\r{}\r", " ".repeat(shown)));
            }
        });
        Some(Self {
            progress,
            // without a thread there is no line, and nothing else is different
            writer: writer.ok().map(|writer| (stop, writer)),
        })
    }

    /// What the scan counts with.
    pub(super) fn counters(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some((stop, writer)) = self.writer.take() {
            drop(stop);
            let _panicked = writer.join();
        }
    }
}

fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _closed = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

/// Bytes a second between the first and the last sample.
fn rate(samples: &VecDeque<(Duration, u64)>) -> Option<u64> {
    let ((began, before), (now, bytes)) = (samples.front()?, samples.back()?);
    let millis = now.checked_sub(*began)?.as_millis();
    let bytes = u128::from(bytes.checked_sub(*before)?);
    u64::try_from((bytes * 1000).checked_div(millis)?).ok()
}

/// `layer 3 of 7 · 1.2 of 3.4 GB · 95 MB/s`, as far as that is known; nothing where it is not worth saying.
fn line(counts: Counts, rate: Option<u64>) -> Option<String> {
    let Counts {
        bytes,
        bytes_total,
        layers,
        layers_total,
        packages,
        packages_total,
        ..
    } = counts;
    // servers are asked for each, which takes longer than reading
    if bytes.max(bytes_total) < WORTH_SAYING && packages_total == 0 {
        return None;
    }
    let mut parts = Vec::new();
    if packages_total > 0 {
        let current = (packages + 1).min(packages_total);
        parts.push(format!("package {current} of {packages_total}"));
    }
    if layers_total > 0 {
        let current = (layers + 1).min(layers_total);
        parts.push(format!("layer {current} of {layers_total}"));
    } else if layers > 0 {
        parts.push(format!("layer {}", layers + 1));
    }
    // a stream beside inputs of known sizes has no end that is known
    parts.push(if bytes <= bytes_total {
        let unit = if bytes_total < 1000 * MB { "MB" } else { "GB" };
        format!(
            "{} of {} {unit}",
            in_unit(bytes, unit),
            in_unit(bytes_total, unit)
        )
    } else {
        let unit = if bytes < 1000 * MB { "MB" } else { "GB" };
        format!("{} {unit}", in_unit(bytes, unit))
    });
    if let Some(rate) = rate {
        parts.push(format!("{} MB/s", rate / MB));
    }
    Some(parts.join(" · "))
}

fn in_unit(bytes: u64, unit: &str) -> String {
    let tenths = bytes / (100 * MB);
    match unit {
        "GB" => format!("{}.{}", tenths / 10, tenths % 10),
        _ => (bytes / MB).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(bytes: [u64; 2], layers: [u64; 2]) -> Counts {
        Counts {
            bytes: bytes[0] * MB,
            bytes_total: bytes[1] * MB,
            layers: layers[0],
            layers_total: layers[1],
            ..Counts::default()
        }
    }

    #[test]
    fn the_files_of_a_lock_file_are_counted_before_much_is_read() {
        let counts = |packages, packages_total| Counts {
            packages,
            packages_total,
            ..counts([3, 4], [0, 0])
        };
        for (at, said) in [
            (counts(0, 61), "package 1 of 61 · 3 of 4 MB"),
            (counts(61, 61), "package 61 of 61 · 3 of 4 MB"),
        ] {
            assert_eq!(line(at, None).as_deref(), Some(said));
        }
    }

    #[test]
    fn a_line_says_what_is_known() {
        for (bytes, layers, rate, said) in [
            (
                [1234, 3456],
                [2, 7],
                Some(95 * MB),
                "layer 3 of 7 · 1.2 of 3.4 GB · 95 MB/s",
            ),
            (
                [3456, 3456],
                [7, 7],
                Some(0),
                "layer 7 of 7 · 3.4 of 3.4 GB · 0 MB/s",
            ),
            ([12, 340], [0, 0], None, "12 of 340 MB"),
            ([1500, 0], [3, 0], Some(MB), "layer 4 · 1.5 GB · 1 MB/s"),
        ] {
            assert_eq!(line(counts(bytes, layers), rate).as_deref(), Some(said));
        }
        assert_eq!(line(counts([0, 99], [0, 7]), None), None);
    }

    #[test]
    fn the_rate_is_that_of_the_samples() {
        let sample = |seconds, bytes| (Duration::from_secs(seconds), bytes);
        assert_eq!(rate(&[sample(1, 100), sample(3, 500)].into()), Some(200));
        assert_eq!(rate(&[sample(1, 100)].into()), None);
        assert_eq!(rate(&VecDeque::new()), None);
    }
}
