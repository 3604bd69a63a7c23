//! The first line of a script: which pipes, changed switches.
use crate::switches;
use prismux_r2cp::policy::Cost;
use prismux_r2cp::{R2cpConfig, Scheduling};
use prismux_script::{Words, number};
use prismux_tcp::engine::CongestionKind;
use prismux_units::{ByteCount, Duration, Rate};

/// What a script begins with.
pub struct Setup {
    pub config: R2cpConfig,
    /// Pipes that are open when the script begins, and what each costs.
    pub round_trips: Vec<Duration>,
    pub costs: Vec<Cost>,
    /// What each server's limit is at first, where it is not 60,000.
    pub limits: Vec<u16>,
    /// The congestion control of each pipe, where it is not that of all.
    pub congestion: Vec<CongestionKind>,
}

/// Reads `key=value ...`.
pub fn read(words: &mut Words<'_>) -> Result<Setup, String> {
    let mut config = R2cpConfig::new(switches::plain());
    // Small enough that distances are told to the byte.
    config.rcp.receive_buffer = ByteCount::new(8_000);
    let (round_trips, costs, limits, congestion) = Default::default();
    let mut setup = Setup { config, round_trips, costs, limits, congestion };
    for (key, value) in words.switches()? {
        match key {
            "rtt" => setup.round_trips = list(value)?,
            "costs" => setup.costs = list(value)?.into_iter().map(Cost).collect(),
            "limits" => setup.limits = list(value)?,
            "pipe_congestion" => {
                let kinds = value.split(',').map(CongestionKind::parse).collect::<Option<_>>();
                setup.congestion = kinds.ok_or("no such congestion control")?;
            }
            "length" => setup.config.length = Some(ByteCount::new(number(value)?)),
            "target_rate" => setup.config.target_rate = Some(Rate::from_bps(number(value)?)),
            "scheduling" => setup.config.scheduling = scheduling(value)?,
            _ => switches::change(&mut setup.config.rcp, key, value)?,
        }
    }
    Ok(setup)
}

impl Setup {
    /// The congestion control of pipe `index`.
    pub fn congestion(&self, index: usize) -> CongestionKind {
        self.congestion.get(index).copied().unwrap_or(self.config.rcp.engine.congestion)
    }

    /// What pipe `index` costs.
    pub fn cost(&self, index: usize) -> Cost {
        self.costs.get(index).copied().unwrap_or_default()
    }
}

fn scheduling(name: &str) -> Result<Scheduling, String> {
    Ok(match name {
        "expected-arrival" => Scheduling::ExpectedArrival,
        "expected-arrival-chained" => Scheduling::ExpectedArrivalChained,
        "first-pending" => Scheduling::FirstPending,
        "round-robin" => Scheduling::RoundRobin,
        _ => return Err(format!("no scheduling {name:?}")),
    })
}

fn list<T: std::str::FromStr>(text: &str) -> Result<Vec<T>, String> {
    text.split(',').map(|item| item.parse().map_err(|_| format!("{item:?} is not understood"))).collect()
}
