//! Civil dates: the day on which a waiver ends.
//!
//! Knows the Gregorian calendar and no clock; today is given by the caller.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A day of the Gregorian calendar, 0001-01-01 to 9999-12-31.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// A date that exists; `None` for 2027-02-30.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let exists = (1..=9999).contains(&year) && (1..=days_in_month(year, month)).contains(&day);
        exists.then_some(Self { year, month, day })
    }

    /// The day in UTC that a Unix time, in seconds, falls on; `None` beyond the year 9999.
    pub fn from_unix_seconds(seconds: u64) -> Option<Self> {
        // Days since 0000-03-01, so that a leap day ends a year and a cycle of 400 years.
        let days = seconds / 86_400 + 719_468;
        let (cycle, day_of_cycle) = (days / 146_097, days % 146_097);
        let year_of_cycle = (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524
            - day_of_cycle / 146_096)
            / 365;
        let day_of_year =
            day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
        let shifted = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        };
        let year = cycle * 400 + year_of_cycle + u64::from(month <= 2);
        Self::new(
            year.try_into().ok()?,
            month.try_into().ok()?,
            day.try_into().ok()?,
        )
    }
}

fn days_in_month(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is no date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseDateError {
    /// It is not spelled like one.
    #[error("a date is written as year, month and day: `2027-03-01`")]
    Spelling,
    /// It is spelled like one, and its month has fewer days: its last one.
    #[error("there is no such day in the calendar: that month ends on `{0}`")]
    PastMonth(Date),
    /// It is spelled like one, and no calendar has it.
    #[error("there is no such day in the calendar")]
    Impossible,
}

impl FromStr for Date {
    type Err = ParseDateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = |part: Option<&str>, len: usize| {
            let part = part.filter(|p| p.len() == len && p.bytes().all(|b| b.is_ascii_digit()))?;
            part.parse::<u16>().ok()
        };
        let mut parts = text.split('-');
        let (year, month, day) = (|| {
            let date = (
                digits(parts.next(), 4)?,
                u8::try_from(digits(parts.next(), 2)?).ok()?,
                u8::try_from(digits(parts.next(), 2)?).ok()?,
            );
            parts.next().is_none().then_some(date)
        })()
        .ok_or(ParseDateError::Spelling)?;
        Self::new(year, month, day).ok_or_else(|| {
            let last = Self::new(year, month, days_in_month(year, month));
            match last.filter(|last| last.day < day) {
                Some(last) => ParseDateError::PastMonth(last),
                None => ParseDateError::Impossible,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn dates_round_trip_and_order() {
        for text in [
            "2027-03-01",
            "2024-02-29",
            "2000-02-29",
            "9999-12-31",
            "0001-01-01",
        ] {
            assert_eq!(date(text).to_string(), text);
        }
        assert!(date("2026-12-31") < date("2027-01-01"));
        assert!(date("2027-02-01") < date("2027-02-02"));
    }

    #[test]
    fn impossible_days_are_told_from_misspelled_ones() {
        for (text, last) in [
            ("2027-02-30", "2027-02-28"),
            ("2027-02-29", "2027-02-28"),
            ("2028-02-30", "2028-02-29"),
            ("1900-02-29", "1900-02-28"),
            ("2027-04-31", "2027-04-30"),
        ] {
            let error = ParseDateError::PastMonth(date(last));
            assert_eq!(text.parse::<Date>(), Err(error), "{text}");
        }
        for text in ["2027-13-01", "2027-00-10", "2027-01-00", "0000-01-01"] {
            assert_eq!(
                text.parse::<Date>(),
                Err(ParseDateError::Impossible),
                "{text}"
            );
        }
        for text in [
            "",
            "2027-3-1",
            "2027/03/01",
            "01.03.2027",
            "2027-03",
            "2027-03-01T00",
            "2027-03-01-",
            "+027-03-01",
            "soon",
        ] {
            assert_eq!(
                text.parse::<Date>(),
                Err(ParseDateError::Spelling),
                "{text}"
            );
        }
    }

    #[test]
    fn unix_times_fall_on_their_day() {
        for (seconds, text) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_400, "2000-02-29"),
            (1_709_164_800, "2024-02-29"),
            (1_709_251_200, "2024-03-01"),
            (1_798_761_600, "2027-01-01"),
            (4_107_542_400, "2100-03-01"),
            (253_402_300_799, "9999-12-31"),
        ] {
            assert_eq!(
                Date::from_unix_seconds(seconds),
                Some(date(text)),
                "{seconds}"
            );
        }
        assert_eq!(Date::from_unix_seconds(253_402_300_800), None);
        assert_eq!(Date::from_unix_seconds(u64::MAX), None);
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_one_before() {
        let mut previous = Date::from_unix_seconds(0).unwrap();
        for day in 1..146_097_u64 {
            let next = Date::from_unix_seconds(day * 86_400).unwrap();
            assert!(previous < next, "{previous} {next}");
            previous = next;
        }
        assert_eq!(previous.to_string(), "2369-12-31");
    }
}
