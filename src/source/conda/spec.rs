//! What a package asks of other packages, as far as it bears on CUDA.
//!
//! Format: match specifications as `depends` and `constrains` hold them, `NAME VERSION BUILD`, the version a list of
//! clauses with `,` for AND and `|` for OR (CEP 29); virtual packages (CEP 30): `__cuda` is the newest CUDA version
//! that the *driver* supports, `__glibc` the C library. `__cuda_arch` is the least compute capability
//! (conda-incubator/nvidia-virtual-packages).

use std::ops::RangeInclusive;

use crate::cuda::ToolkitVersion;

/// Packages whose version is that of the CUDA toolkit.
const TOOLKITS: &[&str] = &["cuda-version", "cudatoolkit", "pytorch-cuda"];
/// Other packages by which one says for what GPUs, drivers or systems it is.
const OTHERS: &[&str] = &[
    "__cuda",
    "__cuda_arch",
    "__glibc",
    "arm-variant",
    "cpuonly",
    "pytorch-mutex",
];
/// What the names of packages of the CUDA toolkit and its libraries begin with.
const PREFIXES: &[&str] = &[
    "cuda-", "libcu", "libnpp", "libnv", "cudnn", "nccl", "cutensor",
];
/// Bytes of the longest specification that is looked at.
const LONGEST: usize = 1024;

/// A specification, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchSpec<'s> {
    /// The package.
    pub name: &'s str,
    /// The version or what it must be; empty for any.
    pub version: &'s str,
    /// The build, where one is asked for.
    pub build: &'s str,
}

/// The driver that a package declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverFloor {
    /// The specification that says so, `__cuda >=12.9`.
    pub spec: String,
    /// The CUDA version that the driver must support.
    pub cuda: ToolkitVersion,
}

impl<'s> MatchSpec<'s> {
    /// The parts of a specification; nothing where it has no name.
    pub fn parse(text: &'s str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let text = text.rsplit_once("::").map_or(text, |(_, rest)| rest).trim();
        let end = text
            .find(|c: char| c.is_ascii_whitespace() || "=<>!~[".contains(c))
            .unwrap_or(text.len());
        let (name, rest) = text.split_at_checked(end)?;
        if name.is_empty() || rest.starts_with('[') {
            return None;
        }
        let rest = rest.trim();
        let (version, build) = rest
            .rsplit_once(|c: char| c.is_ascii_whitespace())
            .filter(|(version, _)| !version.trim_end().ends_with([',', '|', '=', '<', '>']))
            .unwrap_or((rest, ""));
        Some(Self {
            name,
            version: version.trim(),
            build: build.trim(),
        })
    }

    /// Whether it bears on CUDA, on drivers, or on the system under them.
    pub fn is_of_cuda(&self) -> bool {
        TOOLKITS.contains(&self.name)
            || OTHERS.contains(&self.name)
            || PREFIXES.iter().any(|prefix| self.name.starts_with(prefix))
    }

    /// Whether it asks for the variant without CUDA.
    pub fn asks_for_cpu(&self) -> bool {
        self.name == "cpuonly" && !self.version.starts_with('<')
            || self.name == "pytorch-mutex" && self.build.starts_with("cpu")
    }

    /// The least version that it allows, the first two numbers; nothing where it allows any, or what it allows is
    /// not understood.
    fn least(&self) -> Option<(u32, u32)> {
        let alternatives = alternatives(self.version)?;
        let least = alternatives.into_iter().map(|clauses| {
            let all = clauses.into_iter().filter_map(|clause| clause.least());
            all.max().unwrap_or((0, 0))
        });
        least.min().filter(|version| *version > (0, 0))
    }

    /// The major versions of the CUDA toolkit that it allows; nothing where it does not say, or is about another
    /// package.
    pub fn toolkit_majors(&self) -> Option<RangeInclusive<u32>> {
        if !TOOLKITS.contains(&self.name) {
            return None;
        }
        let alternatives = alternatives(self.version)?;
        let (mut least, mut most) = (u32::MAX, 0);
        for clauses in alternatives {
            let floors = clauses.iter().filter_map(Clause::least);
            let tops = clauses.iter().filter_map(Clause::most_major);
            least = least.min(floors.max().map_or(0, |(major, _)| major));
            most = most.max(tops.min().unwrap_or(u32::MAX));
        }
        let says = least > 0 || most < u32::MAX;
        (says && least <= most).then_some(least..=most)
    }
}

impl DriverFloor {
    /// The highest that any of `specs` asks for.
    pub fn highest<'s>(specs: impl IntoIterator<Item = &'s str>) -> Option<Self> {
        let floors = specs.into_iter().filter_map(|text| {
            let spec = MatchSpec::parse(text).filter(|spec| spec.name == "__cuda")?;
            let (major, minor) = spec.least()?;
            Some(Self {
                spec: text.to_owned(),
                cuda: ToolkitVersion::new(major, minor),
            })
        });
        // of equals the first that is written
        floors.reduce(|best, next| if next.cuda > best.cuda { next } else { best })
    }
}

/// One condition on a version.
#[derive(Debug, Clone, Copy)]
struct Clause {
    sign: Sign,
    version: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    AtLeast,
    Below,
    AtMost,
    /// Equal, or beginning so.
    Is,
    /// Says nothing of what is the least or the most.
    Open,
}

impl Clause {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let signs = [
            (">=", Sign::AtLeast),
            ("<=", Sign::AtMost),
            ("==", Sign::Is),
            ("!=", Sign::Open),
            ("~=", Sign::AtLeast),
            (">", Sign::AtLeast),
            ("<", Sign::Below),
            ("=", Sign::Is),
        ];
        let found = signs
            .into_iter()
            .find_map(|(text_of, sign)| Some((sign, text.strip_prefix(text_of)?)));
        let (sign, rest) = found.unwrap_or((Sign::Is, text));
        if rest.trim() == "*" {
            let version = (0, 0);
            return Some(Self {
                sign: Sign::Open,
                version,
            });
        }
        let mut parts = rest.trim().split(['.', '*', '+', '-', '_']);
        let number = |part: Option<&str>| {
            let digits = part.unwrap_or_default();
            let end = digits.find(|c: char| !c.is_ascii_digit());
            digits
                .get(..end.unwrap_or(digits.len()))?
                .parse::<u32>()
                .ok()
        };
        let major = number(parts.next())?;
        let minor = number(parts.next()).unwrap_or(0);
        Some(Self {
            sign,
            version: (major, minor),
        })
    }

    fn least(&self) -> Option<(u32, u32)> {
        matches!(self.sign, Sign::AtLeast | Sign::Is).then_some(self.version)
    }

    fn most_major(&self) -> Option<u32> {
        let (major, minor) = self.version;
        match self.sign {
            // `<13` and `<13.0a0` allow 12, `<12.2` does too
            Sign::Below if minor == 0 => major.checked_sub(1),
            Sign::Is | Sign::AtMost | Sign::Below => Some(major),
            Sign::AtLeast | Sign::Open => None,
        }
    }
}

/// The alternatives of a version, each a list of clauses that hold together; nothing where one is not understood.
fn alternatives(version: &str) -> Option<Vec<Vec<Clause>>> {
    if version.is_empty() {
        return Some(Vec::new());
    }
    // groups in parentheses are allowed and were not seen
    version
        .split('|')
        .map(|all| all.split(',').map(Clause::parse).collect())
        .collect()
}
