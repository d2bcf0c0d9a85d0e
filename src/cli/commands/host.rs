//! `smgate host`: this machine as a fleet target.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::args::{FormatArg, Host};
use crate::cli::{Exit, Failure, Output};
use crate::escape::{in_json, visible};
use crate::limits::read_capped;
use crate::machine::{LocalGpu, Machine};
use crate::platform::{CpuArch, Os, Platform};
use crate::policy::Policy;
use crate::report::plural;
use crate::tables::Tables;
use crate::{Error, ErrorKind};

/// How long `nvidia-smi` may take; on machines with many GPUs it needs seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of its output that are read.
const OUTPUT_MAX: u64 = 1 << 20;

pub(in crate::cli) fn run(args: &Host, tables: &Tables, output: &Output) -> Result<Exit, Failure> {
    let machine = look(tables);
    let mut stdout = output.stdout();
    match args.format {
        FormatArg::Human => human(&machine, tables, &mut stdout)?,
        FormatArg::Json => {
            let document = json(&machine, tables);
            let document = serde_json::to_string_pretty(&document).map_err(std::io::Error::from)?;
            writeln!(stdout, "{}", in_json(document))?;
        }
    }
    stdout.flush()?;
    Ok(match machine.target(None, tables) {
        Some(_) => Exit::Pass,
        None => Exit::CannotJudge,
    })
}

/// The policy of this machine as its only target; `driver` in the place of the driver that is installed.
pub(super) fn policy(driver: Option<&str>, tables: &Tables) -> Result<Policy, Failure> {
    match target(driver, tables) {
        Ok(target) => of_target(&target, tables),
        Err(why) => Err(no_target(&format!("`--target host`: {why}"), "--target H100").into()),
    }
}

/// The policy with this machine in the targets that ask for it.
pub(super) fn fill_in(policy: Policy, tables: &Tables) -> Result<Policy, Failure> {
    if !policy.asks_for_host() {
        return Ok(policy);
    }
    let filled = match target(None, tables) {
        Ok(target) => policy.with_host(Ok(&of_target(&target, tables)?)),
        Err(why) => policy.with_host(Err(&no_target(&why, "gpu: H100"))),
    };
    filled.map_err(Failure::Policy)
}

/// This machine's target as text, or why it is none.
///
/// A GPU of which nothing is known cannot be judged, and a pass on the others would be one for it too.
fn target(driver: Option<&str>, tables: &Tables) -> Result<String, String> {
    let machine = look(tables);
    if let Some(unknown) = machine.gpus.iter().find(|gpu| gpu.cc.is_none()) {
        return Err(format!(
            "the compute capability of this machine's {} is unknown",
            unknown.label()
        ));
    }
    let target = machine.target(driver, tables);
    target.ok_or_else(|| "no NVIDIA GPU was found on this machine".to_owned())
}

fn of_target(target: &str, tables: &Tables) -> Result<Policy, Failure> {
    let text = format!("version: 1\ntargets:\n{target}");
    Policy::parse(Policy::BY_HAND, &text, tables).map_err(Failure::Policy)
}

fn no_target(why: &str, instead: &str) -> Error {
    Error::new(ErrorKind::Usage, why).with_hint(format!(
        "`smgate host` shows where it looked; name a GPU: `{instead}`"
    ))
}

fn look(tables: &Tables) -> Machine {
    let platform = platform();
    let places = places(platform);
    let mut hangs = false;
    let mut run = |arguments: &[&str]| {
        // one that did not answer would not answer the next question either
        let (printed, in_time) = if hangs {
            (None, false)
        } else {
            nvidia_smi(&places, arguments, PATIENCE)
        };
        hangs = !in_time;
        printed
    };
    Machine::look(Path::new("/"), platform, &mut run, tables)
}

fn platform() -> Option<Platform> {
    let os = match std::env::consts::OS {
        "linux" => Os::Linux,
        "windows" => Os::Windows,
        _ => return None,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => CpuArch::Amd64,
        "aarch64" => CpuArch::Arm64,
        _ => return None,
    };
    Some(Platform::new(os, arch))
}

/// Where `nvidia-smi` is looked for: in the search path, then where the drivers of Windows put it.
fn places(platform: Option<Platform>) -> Vec<PathBuf> {
    let mut places = vec![PathBuf::from("nvidia-smi")];
    match platform.map(|platform| platform.os) {
        Some(Os::Windows) => {
            if let Some(root) = std::env::var_os("SystemRoot") {
                places.push(Path::new(&root).join("System32").join("nvidia-smi.exe"));
            }
        }
        _ => places.push(PathBuf::from("/usr/lib/wsl/lib/nvidia-smi")),
    }
    places
}

/// What it prints, and whether it ended in time; nothing where it is not there, fails, or does not end.
fn nvidia_smi(
    places: &[PathBuf],
    arguments: &[&str],
    patience: Duration,
) -> (Option<String>, bool) {
    let deadline = Instant::now() + patience;
    let start = |place: &PathBuf| {
        let mut command = Command::new(place);
        command.args(arguments).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().ok()
    };
    let Some(mut child) = places.iter().find_map(start) else {
        return (None, true);
    };
    let Some(printed) = child.stdout.take() else {
        return (None, true);
    };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // whoever waited may have given up
        let _given_up = sender.send(read_capped(printed, OUTPUT_MAX));
    });
    let read = receiver.recv_timeout(patience);
    // one that has closed its output need not end
    let Some(status) = ended(&mut child, deadline) else {
        return (None, false);
    };
    let bytes = read.ok().and_then(Result::ok).map(|(bytes, _more)| bytes);
    let printed = bytes.filter(|_| status.success());
    (
        printed.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        true,
    )
}

/// How a process ended; one that does not is killed at the deadline and not waited for, as one that hangs in its
/// driver does not end of that either.
fn ended(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        if Instant::now() >= deadline {
            let _ended_meanwhile = child.kill();
            return None;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn human(machine: &Machine, tables: &Tables, out: &mut dyn Write) -> std::io::Result<()> {
    if machine.gpus.is_empty() {
        writeln!(
            out,
            "No NVIDIA GPU found: none in /sys/bus/pci/devices, none that nvidia-smi lists, no Tegra board"
        )?;
    } else {
        writeln!(out, "{}", plural(machine.gpus.len() as u64, "GPU"))?;
    }
    for gpu in &machine.gpus {
        let cc = match gpu.cc {
            Some(cc) => format!("compute capability {cc}"),
            None => "compute capability unknown".to_owned(),
        };
        let id = gpu.pci.map(|id| format!("  {id}")).unwrap_or_default();
        writeln!(
            out,
            "  {}{id}  {cc}  ({})",
            visible(&gpu.label()),
            gpu.source
        )?;
    }
    match &machine.driver {
        None => writeln!(out, "No NVIDIA driver found")?,
        Some(driver) => {
            let branch = tables.branch_of(&driver.version, driver.os);
            let branch = branch.map(|row| format!(", branch {}", row.branch));
            let cuda = driver.cuda.map(|cuda| format!(", reports CUDA {cuda}"));
            writeln!(
                out,
                "driver {}{}{}  ({})",
                driver.version,
                branch.unwrap_or_default(),
                cuda.unwrap_or_default(),
                driver.source
            )?;
        }
    }
    let platform = machine
        .platform
        .map_or("not one that CUDA runs on".to_owned(), |p| p.to_string());
    writeln!(
        out,
        "platform {platform}{}",
        if machine.wsl { " under WSL" } else { "" }
    )?;
    for note in &machine.notes {
        writeln!(out, "note: {}", visible(note))?;
    }
    if let Some(target) = machine.target(None, tables) {
        writeln!(
            out,
            "\nFor a policy file, below `targets:`; `smgate check --target host` takes it as it is:\n"
        )?;
        for line in target.lines() {
            writeln!(out, "{}", visible(line))?;
        }
    }
    Ok(())
}

fn json(machine: &Machine, tables: &Tables) -> serde_json::Value {
    let gpu = |gpu: &LocalGpu| {
        serde_json::json!({
            "name": gpu.name,
            "pci": gpu.pci,
            "cc": gpu.cc.map(|cc| cc.to_string()),
            "source": gpu.source,
        })
    };
    let driver = machine.driver.as_ref().map(|driver| {
        serde_json::json!({
            "version": driver.version.to_string(),
            "branch": tables.branch_of(&driver.version, driver.os).map(|row| row.branch.to_string()),
            "cuda": driver.cuda.map(|cuda| cuda.to_string()),
            "source": driver.source,
        })
    });
    serde_json::json!({
        "schema": "smgate/host/1",
        "platform": machine.platform.map(|platform| platform.to_string()),
        "wsl": machine.wsl,
        "gpus": machine.gpus.iter().map(gpu).collect::<Vec<_>>(),
        "driver": driver,
        "notes": machine.notes,
        "target": machine.target(None, tables),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    // without the deadline this waits for ten minutes
    #[test]
    fn a_tool_that_closes_its_output_and_does_not_end_is_given_up() {
        let sh = [PathBuf::from("sh")];
        let patience = Duration::from_millis(200);
        let silent = ["-c", "exec >&-; exec sleep 600"];
        assert_eq!(nvidia_smi(&sh, &silent, patience), (None, false));
        let silent = ["-c", "exec sleep 600"];
        assert_eq!(nvidia_smi(&sh, &silent, patience), (None, false));
        let says = |text: &str| (Some(text.to_owned()), true);
        assert_eq!(nvidia_smi(&sh, &["-c", "echo 1"], PATIENCE), says("1\n"));
        assert_eq!(nvidia_smi(&sh, &["-c", "exit 6"], PATIENCE), (None, true));
    }
}
