//! Memory does not grow with the input: the peak of a scan is far below what is unpacked.

#[cfg(not(target_os = "linux"))]
#[test]
fn a_gigabyte_is_scanned_in_little_memory() {
    println!("skipped: the peak of another process is read from /proc here, which only Linux has");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::process::{Child, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use smgate::limits::read_capped;

    use crate::support::Random;
    use crate::support_cli::{Place, fatbin_of, wheel};
    use crate::support_zip::deflate_again;

    /// A line of a status file of a process.
    fn proc_file(child: &Child, name: &str) -> Option<String> {
        let file = File::open(format!("/proc/{}/{name}", child.id())).ok()?;
        let (bytes, _) = read_capped(file, 64 << 10).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// The most memory that was resident so far, in bytes.
    fn peak(child: &Child) -> Option<u64> {
        let status = proc_file(child, "status")?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib << 10)
    }

    /// Processor time used so far, in ticks.
    fn used(child: &Child) -> Option<u64> {
        let stat = proc_file(child, "stat")?;
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
    }

    /// Runs a command to the point where it wants to write its report, and reads its peak there. Its output
    /// is a pipe that is full already, so that it cannot end before anybody has looked.
    fn peak_of(place: &Place, args: &[&str]) -> (u64, String) {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let capacity = 64 << 10;
        writer.write_all(&vec![b' '; capacity]).unwrap();
        let mut command = place.command(args);
        command.stdout(writer).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // the command holds the other end of the pipe too
        drop(command);
        let started = Instant::now();
        let (mut last, mut quiet) = (0, 0);
        while quiet < 20 {
            assert!(
                started.elapsed() < Duration::from_secs(240),
                "it does not come to an end"
            );
            assert!(
                child.try_wait().unwrap().is_none(),
                "it ended without a report"
            );
            sleep(Duration::from_millis(25));
            let now = used(&child).unwrap();
            quiet = if now == last && now > 0 { quiet + 1 } else { 0 };
            last = now;
        }
        let peak = peak(&child).unwrap();
        let mut text = String::new();
        let mut padding = vec![0; capacity];
        reader.read_exact(&mut padding).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the output of our own binary")]
        reader.read_to_string(&mut text).unwrap();
        child.wait().unwrap();
        (peak, text)
    }

    #[test]
    fn a_gigabyte_is_scanned_in_little_memory() {
        const MIB: usize = 1 << 20;
        // without optimisation a gigabyte takes a minute to unpack: there a quarter of it must do
        const TIMES: usize = if cfg!(debug_assertions) { 256 } else { 1024 };
        let place = Place::new();
        // half of it fatbins, half of it bytes of a library that are none
        let mut random = Random::new(3);
        let mut chunk = Vec::new();
        while chunk.len() < MIB / 2 {
            chunk.extend(fatbin_of("sm_80 sm_90"));
        }
        chunk.extend(random.bytes(8 << 10));
        chunk.resize(MIB, 0x41);
        let (data, crc) = deflate_again(&chunk, TIMES as u64);
        let size = (chunk.len() * TIMES) as u64;
        assert!(
            (data.len() as u64) * 300 > size,
            "within the ratio: {}",
            data.len()
        );
        let input = wheel("big", "1.0").zip(|zip| zip.packed("big/_C.so", 8, data, size, crc));
        let name = input.write(&place);
        let (peak, text) = peak_of(
            &place,
            &[
                "check", &name, "--target", "H100", "--driver", "R580", "--format", "json",
            ],
        );
        assert!(text.contains("\"verdict\": \"pass\""), "{text}");
        assert!(peak < 128 << 20, "{} MiB", peak >> 20);
        println!("{} MiB at most for {TIMES} MiB", peak >> 20);
    }

    #[test]
    fn a_bomb_takes_little_memory() {
        let place = Place::new();
        let (data, crc) = deflate_again(&vec![0; 1 << 20], 512);
        let input =
            wheel("bomb", "1.0").zip(|zip| zip.packed("bomb/x.so", 8, data, 512 << 20, crc));
        let name = input.write(&place);
        let (peak, text) = peak_of(
            &place,
            &["check", &name, "--target", "H100", "--format", "json"],
        );
        assert!(text.contains("limit-exceeded"), "{text}");
        assert!(peak < 128 << 20, "{} MiB", peak >> 20);
    }
}
