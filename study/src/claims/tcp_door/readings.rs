//! Two sentences of the paper that can be read in two ways each, and what TCP-DOOR gains by each of the four.

use super::improvement::improvements;
use super::{ALONE, FLOW, length};
use crate::claims::ClaimsError;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::number::digits;
use crate::statistics::Summary;
use prismux_tcp_door::{Configuration, Setting};

/// A way to read the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// "Broadcast a new route request" for every packet (4.2): to the whole network, or as ns-2 does to the neighbours
    /// first.
    floods: bool,
    /// "State variables constant" (3.3.1), to "disable the congestion avoidance actions" (5.1): reductions are left
    /// out, or the window does not grow either.
    grows: bool,
}

/// What the words say most plainly: a request that goes to all, and actions of congestion avoidance, that is
/// reductions, that are disabled.
pub(super) const JUDGED_READING: Reading = Reading { floods: true, grows: true };

/// All of them, that by which claims are judged first.
const READINGS: [Reading; 4] = [
    JUDGED_READING,
    Reading { floods: true, grows: false },
    Reading { floods: false, grows: true },
    Reading { floods: false, grows: false },
];

/// The configurations that are compared, with T1 and T2 in the middle.
const COMPARED: [Configuration; 5] = [
    Configuration::All,
    Configuration::SenderDetection,
    Configuration::ReceiverDetection,
    Configuration::TemporaryDisabling,
    Configuration::InstantRecovery,
];
const T1: u32 = 2;
const T2: u32 = 4;

impl Reading {
    /// In words, as a row of a table.
    const fn name(self) -> &'static str {
        match (self.floods, self.grows) {
            (true, true) => "requests flood, window grows (judged)",
            (true, false) => "requests flood, window constant",
            (false, true) => "neighbours first, window grows",
            (false, false) => "neighbours first, window constant",
        }
    }

    /// Overrides for all transports.
    pub fn of_network(self) -> Vec<String> {
        let protocol = if self.floods { "dsr-cache-off-flood" } else { "dsr-cache-off" };
        vec![format!("routing.protocol={protocol}")]
    }

    /// Overrides for TCP-DOOR with a setting, those of the network with them.
    pub fn of_sender(self, setting: Setting) -> Vec<String> {
        let mut set = self.of_network();
        set.push(format!("flows.{FLOW}.door.setting={}", setting.name()));
        set.push(format!("flows.{FLOW}.door.grows_while_frozen={}", self.grows));
        // Senders of ns-2 shake no hands: both ends know the option, whatever is lost.
        set.push(format!("flows.{FLOW}.door.option_on_every_syn=true"));
        set
    }
}

/// The setting of a configuration with T1 and T2 in the middle.
fn middle(configuration: Configuration) -> Option<Setting> {
    Setting::all().find(|setting| {
        setting.configuration == configuration
            && setting.t1.is_none_or(|t1| t1 == T1)
            && setting.t2.is_none_or(|t2| t2 == T2)
    })
}

/// The runs of the other three; those of the one by which claims are judged are there.
pub(super) fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for reading in READINGS.into_iter().filter(|reading| *reading != JUDGED_READING) {
        if reading.grows {
            let set = [length(scope), reading.of_network()].concat();
            jobs.extend(point(scope, key(reading, "tcp"), ALONE, Some("tcp"), &set)?);
        }
        for setting in COMPARED.into_iter().filter_map(middle) {
            let set = [length(scope), reading.of_sender(setting)].concat();
            jobs.extend(point(scope, key(reading, &setting.name()), ALONE, None, &set)?);
        }
    }
    if scope.quick {
        // The settings in the middle are not among those that ran.
        for setting in COMPARED.into_iter().filter_map(middle) {
            let set = [length(scope), JUDGED_READING.of_sender(setting)].concat();
            jobs.extend(point(scope, key(JUDGED_READING, &setting.name()), ALONE, None, &set)?);
        }
    }
    Ok(jobs)
}

/// The point of a reading and a way to send. Plain TCP has no window that could be frozen: it is one for both.
fn key(reading: Reading, way: &str) -> String {
    let reading = if way == "tcp" { Reading { grows: true, ..reading } } else { reading };
    if reading == JUDGED_READING { format!("{ALONE}/{way}") } else { format!("{}/{way}", reading.name()) }
}

/// Mean improvements in percent over the networks: a row for every reading, a column for every configuration.
pub(super) fn table(outcomes: &Outcomes<'_>) -> Series {
    let names = COMPARED.map(Configuration::name);
    let mut table = Series::new("reading", "improvement over TCP with T1 = 2, T2 = 4, alone, %", &names);
    for reading in READINGS {
        table.row(reading.name(), COMPARED.into_iter().map(|one| gain(outcomes, reading, one)).collect());
    }
    table
}

/// The gain of all detectors and responses by each reading, for remarks.
pub(super) fn words(outcomes: &Outcomes<'_>) -> String {
    let each = READINGS.into_iter().filter_map(|reading| {
        let gain = gain(outcomes, reading, Configuration::All)?;
        Some(format!("{} ± {} % ({})", digits(gain.mean), digits(gain.half_width()), reading.name()))
    });
    format!("all-t1x{T1}-t2x{T2} gains by reading {}", each.collect::<Vec<_>>().join(", "))
}

fn gain(outcomes: &Outcomes<'_>, reading: Reading, configuration: Configuration) -> Option<Summary> {
    let goodput =
        |way: &str| outcomes.values(&key(reading, way), |run| Some(run.flows.get(FLOW)?.goodput_bps));
    Summary::of(&improvements(goodput(&middle(configuration)?.name()), &goodput("tcp")))
}
