//! What the programs count, in a map of the kernel's.
use serde::Serialize;

/// Each a number of 8 bytes in the map, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Counter {
    Adopted,
    Begun,
    Ended,
    Accepted,
    SameWindow,
    Malformed,
    NotOutstanding,
    AfterTimeout,
    OtherControl,
    NotAdopted,
    Proportional,
    InRecovery,
    Covered,
    Ordinary,
    KeptSum,
}

const COUNTERS: usize = 15;
/// Room for the name of the cgroup's folder, after the counters.
const CGROUP_BYTES: usize = 256;
/// Bytes of the map's value.
pub(super) const BYTES: usize = COUNTERS * 8 + CGROUP_BYTES;

impl Counter {
    pub(super) const fn offset(self) -> i32 {
        self as i32 * 8
    }
}

/// What the sender's programs have done since they were put in.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct SenderCounters {
    /// Connections that went over to `prismux` at their first report.
    pub connections_adopted: u64,
    /// Of these, and of those that chose it themselves, how many are still there.
    pub connections_live: u64,
    /// Reports that a decrease follows from.
    pub reports_accepted: u64,
    /// Reports of a link that this window has been reduced for already, repeats among them.
    pub reports_same_window: u64,
    /// Ignored: of another length, or to keep less than half.
    pub reports_malformed: u64,
    /// Ignored: not of outstanding data.
    pub reports_not_outstanding: u64,
    /// Ignored: what they report went out before a timeout, whose decrease stands for all links.
    pub reports_after_timeout: u64,
    /// Ignored: the connection has neither CUBIC nor Reno.
    pub reports_other_control: u64,
    /// Ignored: the kernel did not let the connection go over.
    pub reports_not_adopted: u64,
    /// Decreases by what reports say.
    pub decreases_by_report: u64,
    /// Of these, how many deepened a recovery that had begun.
    pub decreases_in_recovery: u64,
    /// Recoveries without a further decrease, because reports of the same window had made it.
    pub recoveries_covered: u64,
    /// Decreases for losses without a report, marks and timeouts, by the kernel's ordinary factor.
    pub decreases_ordinary: u64,
    /// Mean part of the window that decreases by report left.
    pub mean_kept: Option<f64>,
}

impl SenderCounters {
    /// From the map's value.
    pub(super) fn parse(value: &[u8]) -> Self {
        let count = |counter: Counter| {
            let bytes = value.get(counter.offset() as usize..).and_then(|rest| rest.first_chunk());
            bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        let decreases = count(Counter::Proportional);
        Self {
            connections_adopted: count(Counter::Adopted),
            connections_live: count(Counter::Begun).saturating_sub(count(Counter::Ended)),
            reports_accepted: count(Counter::Accepted),
            reports_same_window: count(Counter::SameWindow),
            reports_malformed: count(Counter::Malformed),
            reports_not_outstanding: count(Counter::NotOutstanding),
            reports_after_timeout: count(Counter::AfterTimeout),
            reports_other_control: count(Counter::OtherControl),
            reports_not_adopted: count(Counter::NotAdopted),
            decreases_by_report: decreases,
            decreases_in_recovery: count(Counter::InRecovery),
            recoveries_covered: count(Counter::Covered),
            decreases_ordinary: count(Counter::Ordinary),
            mean_kept: (decreases > 0).then(|| count(Counter::KeptSum) as f64 / 65_536.0 / decreases as f64),
        }
    }
}

/// A fresh value, with the cgroup's folder.
pub(super) fn value_with(cgroup: &str) -> Vec<u8> {
    let mut value = vec![0; BYTES];
    let name = cgroup.as_bytes();
    if let Some(room) = value.get_mut(COUNTERS * 8..COUNTERS * 8 + name.len()) {
        room.copy_from_slice(name);
    }
    value
}

/// The cgroup's folder that a value holds.
pub(super) fn cgroup_of(value: &[u8]) -> String {
    let name = value.get(COUNTERS * 8..).unwrap_or_default();
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

/// The longest name that fits.
pub(super) const fn longest_cgroup() -> usize {
    CGROUP_BYTES - 1
}
