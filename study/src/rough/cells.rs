//! The cells that ship: two sets of links, each with one thing at a time that makes it rough.
use super::{Cell, LinkTrace, RoughLink, Story, recorded};
use prismux_endpoint::random::Seed;
use prismux_link::lte;
use prismux_units::{Duration, Rate};
use std::sync::Arc;

/// A fast link, a lossy one and a distant one.
const SET_A: &[(u64, u64, &str)] = &[(50, 20, ""), (20, 45, "forward = { loss = 0.001 }"), (8, 150, "")];
/// Two links of unequal rate and delay.
const SET_B: &[(u64, u64, &str)] = &[(30, 25, ""), (12, 60, "")];
/// Two quick links, and two quicker ones.
const SET_C: &[(u64, u64, &str)] = &[(100, 10, ""), (60, 15, "")];
const SET_D: &[(u64, u64, &str)] = &[(300, 10, ""), (200, 15, "")];
/// What an operator tried by hand.
const SET_E: &[(u64, u64, &str)] = &[(20, 20, ""), (8, 60, "forward = { loss = 0.003 }")];

/// Links of a set: Mbit/s, one-way delay in ms, a key of the scenario.
type LinkSet = &'static [(u64, u64, &'static str)];

const MBIT: u64 = 1_000_000;

/// Seed and length of the generated traces; every seed of a run sees another part of them.
const TRACE_SEED: u64 = 1;
const TRACE_LENGTH: Duration = Duration::from_secs(600);

/// All shipped cells, in the order of the table; those with busy processors only where `in_lab`.
pub fn shipped(in_lab: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (set, links) in [("a", SET_A), ("b", SET_B)] {
        cells.extend(jitter(set, links));
        cells.extend(reordering(set, links));
        cells.extend(bursts(set, links));
        cells.extend(changing_rates(set, links));
        cells.extend(outages(set, links));
        cells.extend(return_paths(set, links));
        cells.extend(others(set, links));
    }
    cells.extend(cellular());
    cells.extend(quick_links());
    cells.extend(aborted());
    if in_lab {
        cells.extend([("a", SET_A), ("b", SET_B)].into_iter().flat_map(|(set, links)| busy(set, links)));
    }
    cells
}

/// Those whose names contain one of `patterns`; all without patterns.
pub fn chosen(cells: Vec<Cell>, patterns: &[String]) -> Vec<Cell> {
    let wanted = |cell: &Cell| patterns.iter().any(|pattern| cell.name.contains(pattern.as_str()));
    cells.into_iter().filter(|cell| patterns.is_empty() || wanted(cell)).collect()
}

fn cell(name: String, summary: String, links: LinkSet) -> Cell {
    let link = |&(mbps, delay_ms, setting): &(u64, u64, &str)| {
        let settings = if setting.is_empty() { Vec::new() } else { vec![setting.to_string()] };
        RoughLink {
            rate_bps: mbps * MBIT,
            delay_ms,
            queue: "1 bdp".to_string(),
            settings,
            reverse: Vec::new(),
            trace: None,
        }
    };
    let links = links.iter().map(link).collect();
    Cell { name, summary, links, story: Story::Steady, spinning_per_processor: 0 }
}

impl Cell {
    /// With a key on every link.
    fn on_all(mut self, setting: &str) -> Self {
        self.links.iter_mut().for_each(|link| link.settings.push(setting.to_string()));
        self
    }

    /// With a key on link 1.
    fn on_first(mut self, setting: &str) -> Self {
        self.links[0].settings.push(setting.to_string());
        self
    }

    /// With keys on the way back over every link.
    fn on_return(mut self, settings: &[&str]) -> Self {
        let settings = settings.iter().map(|text| (*text).to_string());
        self.links.iter_mut().for_each(|link| link.reverse.extend(settings.clone()));
        self
    }

    fn with_story(self, story: Story) -> Self {
        Self { story, ..self }
    }
}

/// Every packet up to so much later, order kept: a radio bearer that repeats what was lost.
fn jitter(set: &'static str, links: LinkSet) -> impl Iterator<Item = Cell> {
    [0, 10, 20, 40].into_iter().map(move |ms| {
        let name = format!("{set}-jitter-{ms}");
        let summary = match ms {
            0 => "nothing rough".to_string(),
            _ => format!("every packet 0 to {ms} ms later, order kept"),
        };
        cell(name, summary, links).on_all(&format!("jitter = \"{ms} ms\""))
    })
}

fn reordering(set: &'static str, links: LinkSet) -> impl Iterator<Item = Cell> {
    let jitter = |ms: u64| format!("jitter = \"{ms} ms\", reorder = true");
    [1, 3, 5, 10, 20].into_iter().flat_map(move |ms| {
        let named = |which: &str, on: &str| {
            let summary = format!("{on} by up to {ms} ms");
            cell(format!("{set}-reorder-{which}-{ms}"), summary, links)
        };
        let one = named("one", "link 1 reorders").on_first(&jitter(ms));
        [one, named("all", "all links reorder").on_all(&jitter(ms))]
    })
}

fn bursts(set: &'static str, links: LinkSet) -> impl Iterator<Item = Cell> {
    // One packet in a thousand, ten at a time on average: 1 % of all packets.
    let bursts = "forward = { loss = { good_to_bad = 0.001, bad_to_good = 0.1 } }";
    let summary = "link 1 loses 1 % in bursts of ten packets (Gilbert-Elliott)".to_string();
    [cell(format!("{set}-burst-loss"), summary, links).on_first(bursts)].into_iter()
}

fn changing_rates(set: &'static str, links: LinkSet) -> impl Iterator<Item = Cell> {
    [1, 3, 5].into_iter().map(move |seconds| {
        let summary = format!("rate of link 1 changes every {seconds} s between 8 and 45 Mbit/s");
        let story =
            Story::ChangingRate { every: Duration::from_secs(seconds), between_bps: [8 * MBIT, 45 * MBIT] };
        cell(format!("{set}-rate-{seconds}s"), summary, links).with_story(story)
    })
}

fn outages(set: &'static str, links: LinkSet) -> impl Iterator<Item = Cell> {
    let of = move |link: usize, ms: u64| {
        let summary = format!("link {} is silent for {ms} ms after a third of the run", link + 1);
        let story = Story::Outage { link, length: Duration::from_millis(ms) };
        cell(format!("{set}-outage-{}-{ms}", link + 1), summary, links).with_story(story)
    };
    [0, 1].into_iter().flat_map(move |link| [100, 500, 2000, 5000].map(|ms| of(link, ms)))
}

fn return_paths(set: &'static str, links: LinkSet) -> impl Iterator<Item = Cell> {
    let named = |name: &str, summary: &str| cell(format!("{set}-return-{name}"), summary.to_string(), links);
    let thin = named("thin", "500 kbit/s on every way back, 20 packets of queue");
    let jittered = named("jitter-20", "every packet on the way back 0 to 20 ms later, order kept");
    let both = named("rough", "500 kbit/s, 0 to 40 ms later and 1 % loss on every way back");
    let rate = ["rate = \"500 kbit/s\"", "queue = \"20 packets\""];
    [
        thin.on_return(&rate),
        jittered.on_return(&["jitter = \"20 ms\""]),
        both.on_return(&[&rate[..], &["jitter = \"40 ms\"", "loss = 0.01"]].concat()),
    ]
    .into_iter()
}

fn others(set: &'static str, links: LinkSet) -> impl Iterator<Item = Cell> {
    let named = |name: &str, summary: &str| cell(format!("{set}-{name}"), summary.to_string(), links);
    [
        named("rival-1", "a download of another over link 1").with_story(Story::Rivals { count: 1 }),
        named("rival-4", "four downloads of others over link 1").with_story(Story::Rivals { count: 4 }),
        named("datagrams", "10 Mbit/s of datagrams over link 1")
            .with_story(Story::Datagrams { rate_bps: 10 * MBIT }),
    ]
    .into_iter()
}

/// Links like LTE's in motion, beside one another and beside a fixed one.
fn cellular() -> [Cell; 4] {
    let lte = |mbps: u64, name: &str| {
        let direction = |way: &str, bps: u64| {
            let mut random = Seed(TRACE_SEED).stream(&format!("rough/{name}/{way}"));
            lte::trace(Rate::from_bps(bps), TRACE_LENGTH, &mut random).map(Arc::new)
        };
        let (down, up) = (direction("down", mbps * MBIT), direction("up", mbps * MBIT / 2));
        let trace = down.zip(up).map(|(forward, reverse)| LinkTrace { forward, reverse });
        RoughLink { rate_bps: mbps * MBIT, trace, ..recorded::link_shape() }
    };
    let named = |name: &str, summary: &str, links: Vec<RoughLink>| Cell {
        name: name.to_string(),
        summary: summary.to_string(),
        links,
        story: Story::Steady,
        spinning_per_processor: 0,
    };
    let fixed = cell(String::new(), String::new(), &SET_B[1..]).links;
    [
        named("lte-16+5", "two links like LTE's in motion", vec![lte(16, "one"), lte(5, "two")]),
        named("lte-5+16", "the same, and the slow one is used first", vec![lte(5, "two"), lte(16, "one")]),
        named("lte-10+10", "two links like LTE's in motion, alike", vec![lte(10, "three"), lte(10, "four")]),
        named(
            "lte-16+fixed-12",
            "a link like LTE's beside a fixed one",
            [vec![lte(16, "five")], fixed].concat(),
        ),
    ]
}

fn quick_links() -> [Cell; 2] {
    [
        cell("quick-100-60".to_string(), "100 and 60 Mbit/s, nothing rough".to_string(), SET_C),
        cell("quick-300-200".to_string(), "300 and 200 Mbit/s, nothing rough".to_string(), SET_D),
    ]
}

fn aborted() -> [Cell; 2] {
    let summary = "ten downloads in a row, each given up after 4 s".to_string();
    [("b", SET_B), ("e", SET_E)].map(|(set, links)| {
        cell(format!("{set}-aborted"), summary.clone(), links).with_story(Story::Aborted { count: 10 })
    })
}

fn busy(set: &'static str, links: LinkSet) -> impl Iterator<Item = Cell> {
    [1, 2].into_iter().map(move |spinning| {
        let summary = format!("{spinning} spinning program(s) on every processor");
        let busy = cell(format!("{set}-busy-{spinning}"), summary, links);
        Cell { spinning_per_processor: spinning, ..busy }
    })
}
