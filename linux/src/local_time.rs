//! The calendar and the clock on the wall, where this host is.
use std::time::SystemTime;

/// A local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    /// Year of the Gregorian calendar.
    pub year: i32,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, 1 to 31.
    pub day: u8,
    /// Minutes since midnight, by the clock on the wall: 0 to 1439.
    pub minute: u16,
}

/// The time now; `None` for one beyond the calendar. The first call reads the host's time zone, which is kept: it is to
/// be made before files are out of reach.
pub fn now() -> Option<LocalTime> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    of(i64::try_from(since.as_secs()).ok()?)
}

fn of(seconds: i64) -> Option<LocalTime> {
    #[allow(deprecated, reason = "where musl's may become wider, it still takes what has been tried to fit")]
    let seconds = libc::time_t::try_from(seconds).ok()?;
    // SAFETY: a structure of integers and a pointer, for which zeroes are values.
    let mut broken: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values that live through the call.
    let result = unsafe { libc::localtime_r(&raw const seconds, &raw mut broken) };
    if result.is_null() {
        return None;
    }
    Some(LocalTime {
        year: broken.tm_year.checked_add(1900)?,
        month: u8::try_from(broken.tm_mon + 1).ok()?,
        day: u8::try_from(broken.tm_mday).ok()?,
        minute: u16::try_from(broken.tm_hour * 60 + broken.tm_min).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::of;
    use std::process::Command;

    #[test]
    fn local_time_is_what_date_says() {
        for seconds in [0, 951_782_400, 1_795_443_300, 1_774_749_600, 4_102_444_799] {
            let said = Command::new("date").args([&format!("--date=@{seconds}"), "+%Y %m %d %H %M"]).output();
            let said = String::from_utf8(said.expect("date of coreutils").stdout).unwrap();
            let parts: Vec<i32> = said.split_whitespace().map(|part| part.parse().unwrap()).collect();
            let time = of(seconds).unwrap();
            let shown = [time.year, time.month.into(), time.day.into(), i32::from(time.minute)];
            assert_eq!(shown, [parts[0], parts[1], parts[2], parts[3] * 60 + parts[4]], "{seconds}");
        }
    }
}
