//! A cell as a scenario: server - proxy = the cell's links = members - receiver. The members are neighbours in a LAN.
use super::{Cell, RoughLink, Story, Way};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_plan::{Direction, Plan};
use prismux_scenario::{Scenario, ScenarioError, ScenarioFile};
use prismux_units::Duration;
use std::fmt::Write as _;

/// How long an aborted download lasts, and the pause before the next.
const ABORTED_AFTER: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_secs(1);
/// Rivals begin within so much time, the download in the middle of it: who fills a queue first decides much of what
/// each gets, so that one order alone says little.
const RIVALS_START: Duration = Duration::from_secs(1);
/// The most that a rate changes at once.
const MAX_RATE_STEP: f64 = 4.0;

impl Cell {
    /// The scenario of this cell for one seed, its links used in this way, `set` laid over it.
    ///
    /// # Errors
    /// Whatever is wrong with `set`.
    pub(super) fn scenario(
        &self,
        way: Way,
        seed: u64,
        duration: Duration,
        set: &[&str],
    ) -> Result<Scenario, ScenarioError> {
        let file = ScenarioFile::from_text(format!("{}.toml", self.name), self.text(seed, duration));
        let mut scenario = file.scenario_with(None, &self.overrides(way), set)?;
        self.lay_traces(&mut scenario.plan, seed);
        Ok(scenario)
    }

    /// How long a run lasts for which `duration` is asked: aborted downloads take the time they take.
    pub(super) fn duration(&self, duration: Duration) -> Duration {
        match self.story {
            Story::Aborted { count } => (ABORTED_AFTER + PAUSE) * count as u64,
            _ => duration,
        }
    }

    /// The text of the cell's scenario for one seed, over all links with PRISM; `None` where links follow traces, which
    /// no scenario file holds.
    pub fn scenario_text(&self, seed: u64, duration: Duration) -> Option<String> {
        let traced = self.links.iter().any(|link| link.trace.is_some());
        (!traced).then(|| format!("# {}: {}\n{}", self.name, self.summary, self.text(seed, duration)))
    }

    /// The scenario's text, before a way of using the links is chosen.
    fn text(&self, seed: u64, duration: Duration) -> String {
        let duration = self.duration(duration);
        let mut text = format!("duration = \"{} ms\"\n\n[nodes]\n", duration.as_millis());
        self.write_nodes(&mut text);
        text += "\n[links]\n";
        write_wire(&mut text, "backbone", ["server", "proxy"]);
        for (place, link) in self.links.iter().enumerate() {
            let number = place + 1;
            let from = if self.is_shared(place) { "cell" } else { "proxy" };
            let _ = writeln!(text, "wwan{number} = {}", link.text([from, &format!("m{number}")]));
            write_wire(&mut text, &format!("wlan{number}"), [&format!("m{number}"), "receiver"]);
        }
        // Past the cell the way over another member would be the shorter one.
        if !self.is_shared(0) {
            self.write_lan(&mut text);
        }
        if self.is_shared(0) {
            write_wire(&mut text, "trunk", ["proxy", "cell"]);
            write_wire(&mut text, "side", ["other", "cell"]);
            write_wire(&mut text, "neighbours", ["m1", "neighbour"]);
        }
        text += "\n[flows]\n";
        self.write_flows(&mut text, seed);
        self.write_events(&mut text, seed, duration);
        text
    }

    /// A wire between any two members.
    fn write_lan(&self, text: &mut String) {
        let members = 1..=self.links.len();
        for (one, other) in members.clone().flat_map(|one| members.clone().map(move |other| (one, other))) {
            if one < other {
                write_wire(text, &format!("lan{one}{other}"), [&format!("m{one}"), &format!("m{other}")]);
            }
        }
    }

    /// Whether others use the link at this place too, past the proxy: they enter it at its cell.
    fn is_shared(&self, place: usize) -> bool {
        place == 0 && matches!(self.story, Story::Rivals { .. } | Story::Datagrams { .. })
    }

    fn write_nodes(&self, text: &mut String) {
        let members: Vec<String> = (1..=self.links.len()).map(|number| format!("m{number}")).collect();
        *text += "server = { kind = \"host\" }\nreceiver = { kind = \"host\" }\n";
        let _ =
            writeln!(text, "proxy = {{ kind = \"prism-proxy\", receipts = true, members = {members:?} }}");
        for member in members {
            let _ = writeln!(text, "{member} = {{ kind = \"member\" }}");
        }
        if self.is_shared(0) {
            *text += "cell = { kind = \"router\" }\nother = { kind = \"host\" }\nneighbour = { kind = \"host\" }\n";
        }
    }

    fn write_flows(&self, text: &mut String, seed: u64) {
        // Writing to a string cannot fail.
        let _ = match self.story {
            Story::Aborted { count } => (0..count as u64).try_for_each(|index| {
                let start = (ABORTED_AFTER + PAUSE) * index;
                let stop = start + ABORTED_AFTER;
                writeln!(
                    text,
                    "download{} = {{ from = \"server\", to = \"receiver\", start = \"{} ms\", stop = \"{} ms\" }}",
                    index + 1,
                    start.as_millis(),
                    stop.as_millis()
                )
            }),
            Story::Rivals { .. } => {
                let start = RIVALS_START.as_millis() / 2;
                writeln!(
                    text,
                    "download = {{ from = \"server\", to = \"receiver\", start = \"{start} ms\" }}"
                )
            }
            _ => writeln!(text, "download = {{ from = \"server\", to = \"receiver\" }}"),
        };
        let _ = match self.story {
            Story::Rivals { count } => {
                let mut random = Seed(seed).stream(&format!("rough/{}/rivals", self.name));
                (1..=count).try_for_each(|number| {
                    let start = random.below(RIVALS_START.as_millis());
                    writeln!(
                        text,
                        "rival{number} = {{ from = \"other\", to = \"neighbour\", start = \"{start} ms\" }}"
                    )
                })
            }
            Story::Datagrams { rate_bps } => writeln!(
                text,
                "rival1 = {{ from = \"other\", to = \"neighbour\", transport = \"udp\", \
                 rate = \"{rate_bps} bit/s\", packet = \"1200 B\" }}"
            ),
            _ => Ok(()),
        };
    }

    fn write_events(&self, text: &mut String, seed: u64, duration: Duration) {
        let mut event = |at: Duration, what: String| {
            let _ = writeln!(text, "\n[[events]]\nat = \"{} ms\"\n{what}", at.as_millis());
        };
        match self.story {
            Story::Outage { link, length } => {
                let begin = duration / 3;
                event(begin, format!("link = \"wwan{}\"\nup = false", link + 1));
                event(begin + length, format!("link = \"wwan{}\"\nup = true", link + 1));
            }
            Story::ChangingRate { every, between_bps } => {
                let mut random = Seed(seed).stream(&format!("rough/{}/rate", self.name));
                let mut rate = self.links[0].rate_bps as f64;
                let mut at = every;
                while at < duration {
                    rate = next_rate(&mut random, rate, between_bps.map(|bps| bps as f64));
                    let change =
                        format!("link = \"wwan1\"\ndirection = \"forward\"\nrate = \"{rate:.0} bit/s\"");
                    event(at, change);
                    at += every;
                }
            }
            _ => {}
        }
    }

    /// What a way of using the links changes in the scenario.
    fn overrides(&self, way: Way) -> Vec<String> {
        let downloads = match self.story {
            Story::Aborted { count } => (1..=count).map(|number| format!("download{number}")).collect(),
            _ => vec!["download".to_string()],
        };
        let on_flows = |setting: &str| -> Vec<String> {
            downloads.iter().map(|flow| format!("flows.{flow}.{setting}")).collect()
        };
        let own = |list: &[&str]| list.iter().map(|text| (*text).to_string()).collect::<Vec<_>>();
        match way {
            Way::Single(place) => on_flows(&format!("via=m{}", place + 1)),
            Way::Prism => Vec::new(),
            Way::PrismBbr => on_flows("congestion=bbr"),
            Way::TcpPrism => {
                [own(&["nodes.proxy.loss_reports=true"]), on_flows("transport=tcp-prism")].concat()
            }
            Way::Striping => own(&[
                "nodes.proxy.profile=paper",
                "nodes.proxy.rpc=off",
                "nodes.proxy.scheduler=smooth-weighted-round-robin",
            ]),
            Way::MptcpCubic => [on_flows("transport=mptcp"), on_flows("congestion=cubic")].concat(),
            Way::MptcpBbr => [on_flows("transport=mptcp"), on_flows("congestion=bbr")].concat(),
        }
    }

    /// Puts the traces of the links in place of their rates.
    fn lay_traces(&self, plan: &mut Plan, seed: u64) {
        let duration = plan.duration;
        for (place, link) in self.links.iter().enumerate() {
            let (Some(trace), name) = (&link.trace, format!("wwan{}", place + 1)) else { continue };
            let Some(planned) = plan.links.iter_mut().find(|link| link.name == name) else { continue };
            for (direction, trace) in
                [(Direction::Forward, &trace.forward), (Direction::Reverse, &trace.reverse)]
            {
                let direction = match direction {
                    Direction::Forward => &mut planned.forward.link,
                    Direction::Reverse => &mut planned.reverse.link,
                };
                // Every seed sees another part of the recording.
                let part = trace.part(duration * seed.saturating_sub(1), duration);
                direction.trace = Some(part.unwrap_or_else(|| trace.as_ref().clone()).into());
                direction.rate = None;
            }
        }
    }
}

impl RoughLink {
    fn text(&self, ends: [&str; 2]) -> String {
        let mut keys = vec![
            format!("between = {ends:?}, shared = true"),
            format!("rate = \"{} bit/s\"", self.rate_bps),
            format!("delay = \"{} ms\"", self.delay_ms),
            format!("queue = \"{}\"", self.queue),
        ];
        keys.extend(self.settings.iter().cloned());
        if !self.reverse.is_empty() {
            keys.push(format!("reverse = {{ {} }}", self.reverse.join(", ")));
        }
        format!("{{ {} }}", keys.join(", "))
    }
}

/// A link that is never the limit.
fn write_wire(text: &mut String, name: &str, ends: [&str; 2]) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{name} = {{ between = {ends:?}, rate = \"1 Gbit/s\", delay = \"1 ms\", queue = \"4 MB\" }}"
    );
}

/// A rate between the bounds, uniform in its logarithm, at most [`MAX_RATE_STEP`] times more or less than the one
/// before.
fn next_rate(random: &mut RandomStream, rate: f64, [least, most]: [f64; 2]) -> f64 {
    let (low, high) = (least.max(rate / MAX_RATE_STEP), most.min(rate * MAX_RATE_STEP));
    low * (high / low).powf(random.uniform())
}
