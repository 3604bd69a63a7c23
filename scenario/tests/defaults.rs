//! The reference page says what holds when a key is left out: writing that down changes nothing. And every key is
//! read: some value of it makes a difference.
use prismux_scenario::keys::{self, Key};
use prismux_scenario::registry::{self, Name};
use prismux_scenario::{Scenario, ScenarioFile};

const FILE: &str = r#"
duration = "60 s"
[nodes]
server = { kind = "host" }
other = { kind = "host" }
proxy = { kind = "prism-proxy" }
m1 = { kind = "member" }
m2 = { kind = "member" }
receiver = { kind = "host" }
[links]
backbone = { between = ["server", "proxy"], rate = "100 Mbit/s" }
spare = { between = ["other", "proxy"], rate = "100 Mbit/s" }
wwan1.between = ["proxy", "m1"]
wwan1.rate = "1800 kbit/s"
wwan1.delay = "500 ms"
wwan1.loss = { good_to_bad = 0.01, bad_to_good = 0.1 }
wwan2 = { between = ["proxy", "m2"], rate = "600 kbit/s", delay = "70 ms" }
managed = { between = ["m1", "receiver"], rate = "1 Mbit/s", queue = { discipline = "red" } }
wlan1 = { between = ["m1", "receiver"], rate = "11 Mbit/s" }
wlan2 = { between = ["m2", "receiver"], rate = "11 Mbit/s" }
[flows]
download = { from = "server", to = "receiver", bytes = "1 MB" }
load = { from = "server", to = "m1", transport = "udp", rate = "100 kbit/s" }
bursts.from = "server"
bursts.to = "m1"
bursts.transport = "udp"
bursts.pattern = "pareto"
bursts.rate = "1 Mbit/s"
bursts.on = "1 s"
bursts.off = "1 s"
writer = { from = "server", to = "receiver", pattern = "writes", every = "500 ms" }
exchange = { from = "server", to = "receiver", pattern = "request-response", response = "20 kB" }
pipes = { from = "server", to = "receiver", transport = "r2cp", pipes = { first = {} } }
ordered = { from = "server", to = "receiver", transport = "tcp-door" }
multipath = { from = "server", to = "receiver", transport = "mptcp" }
parallel = { from = "server", to = "receiver", transport = "ptcp" }
asked = { from = "server", to = "receiver", transport = "rcp", congestion = "stp" }
striped = { from = "server", to = "receiver", transport = "striping-smart" }
[programs]
web = { on = "server", exec = "serve" }
[[events]]
at = "10 s"
link = "wwan1"
rate = "1 Mbit/s"
[[events]]
at = "20 s"
leave = "m2"
[[events]]
at = "30 s"
handoff = "receiver"
"#;

const AIR: &str = r#"
duration = "60 s"
[nodes]
h = { kind = "host", count = 3 }
[radio]
[radio.energy]
[mobility]
model = "static"
area_m = [300, 200]
[routing]
[flows]
download = { from = "h-1", to = "h-2" }
"#;

/// A host that hands over.
const CELLS: &str = r#"
duration = "60 s"
[nodes]
server = { kind = "host" }
west = { kind = "router" }
east = { kind = "router" }
car = { kind = "host" }
[links]
to-west = { between = ["server", "west"], rate = "10 Mbit/s", delay = "1 ms" }
to-east = { between = ["west", "east"], rate = "10 Mbit/s", delay = "1 ms" }
wwan = { between = ["west", "car"], rate = "1 Mbit/s", delay = "50 ms" }
[radio]
hosts = ["car"]
[radio.cells]
base_stations = ["west", "east"]
[mobility]
model = "static"
area_m = [300, 200]
[flows]
download = { from = "server", to = "car" }
"#;

/// A cell in slots.
const SLOTTED: &str = r#"
duration = "60 s"
[nodes]
h = { kind = "host", count = 4 }
west = { kind = "router" }
far = { kind = "router" }
[links]
wire = { between = ["west", "far"], rate = "10 Mbit/s" }
[cell]
base_station = "h-4"
access = "polled"
[cell.energy]
[mobility]
model = "static"
places = { h-1 = [0, 0], h-2 = [100, 0], h-3 = [200, 0], h-4 = [100, 100], west = [0, 100] }
[flows]
download = { from = "h-1", to = "h-2", tcp = { mss = "600 B" } }
"#;

/// Tables of keys that the files with an air or a cell have.
const AIR_TABLES: [&str; 12] = [
    "cell",
    "cell.dual_mode",
    "cell.energy",
    "radio",
    "radio.channel.1",
    "radio.aggregation",
    "radio.polling",
    "radio.slots",
    "radio.energy",
    "radio.cells",
    "mobility",
    "routing",
];

/// What is said in words and not by a value.
const IN_WORDS: &[&str] = &[
    "the file's name",
    "empty",
    "required",
    "none",
    "see below",
    "no limit",
    "as the link",
    "learned",
    "true between a proxy and a member",
    "by routing",
    "channel 1 for all",
    "by routing; mptcp, ptcp and striping: all of the multi-homed end",
    "\"bulk\", for udp \"cbr\"",
    "until stopped",
    "end of the run",
    "the profile's",
    "one, from `from`",
    "as fast as possible",
    "required for udp",
    "required for pareto",
    "required for request-response",
    "required for writes",
    "the flow's `from`",
    "the flow's",
    "the setting's",
    "the flow's `start`",
    "never",
    "once, at the start",
    "at once",
    "the tcp table's window",
    "-",
    "the discipline's",
    "the present one",
    "unknown",
    "unchanged",
    "a fifth of the run, at most 30 s",
    "those a link joins it to",
    "required without `radio` and `cell`",
    "required without `programs`",
    "required with `radio` or `cell`",
    "`rate`, divided by the hosts",
    "all other hosts",
    "required with `sleep_period`",
    "required with `tune`",
    "all hosts",
    "all others on its channel",
    "the first of the access point",
    "the first ones of the owners",
    "that of `medium_access`",
    "that of `[radio]`",
    "that of `[radio]`, or of `medium_access`",
    "required, but for files, and where all have `places`",
    "random",
    "required for files",
];

/// Every table of keys, and where it stands in the file.
fn tables() -> Vec<(&'static str, &'static [Key])> {
    vec![
        ("", keys::FILE),
        ("nodes.m1", keys::MEMBER),
        ("nodes.proxy", keys::PRISM_PROXY),
        ("links.wlan2", keys::LINK),
        ("links.wwan2.forward", keys::DIRECTION),
        ("links.wwan1.loss", keys::GILBERT_ELLIOTT),
        ("links.managed.queue", keys::QUEUE),
        ("flows.download", keys::FLOW),
        ("flows.pipes.pipes.first", keys::PIPE),
        ("flows.download.tcp", keys::TCP),
        ("flows.ordered.door", keys::DOOR),
        ("flows.multipath.mptcp", keys::MPTCP),
        ("flows.parallel.ptcp", keys::PTCP),
        ("flows.striped.striping", keys::STRIPING),
        ("flows.asked.rcp", keys::RCP),
        ("programs.web", keys::PROGRAM),
        ("events.0", keys::EVENT),
        ("measure", keys::MEASURE),
        ("radio", keys::RADIO),
        ("radio.channel.1", keys::CHANNEL),
        ("radio.aggregation", keys::AGGREGATION),
        ("radio.polling", keys::POLLING),
        ("radio.slots", keys::SLOTS),
        ("radio.energy", keys::ENERGY),
        ("radio.cells", keys::CELLS),
        ("mobility", keys::MOBILITY),
        ("routing", keys::ROUTING),
        ("cell", keys::CELL),
        ("cell.dual_mode", keys::DUAL_MODE),
        ("cell.energy", keys::CELL_ENERGY),
    ]
}

/// The path of `key`: of a flow or an event that it applies to.
fn path(table: &str, key: &str) -> String {
    let table = match (table, key) {
        ("flows.download", "rate" | "packet") => "flows.load",
        ("flows.download", "on" | "off" | "shape") => "flows.bursts",
        ("flows.download", "request" | "response" | "think") => "flows.exchange",
        ("flows.download", "write" | "every") => "flows.writer",
        ("flows.download", "scheduling" | "target_rate" | "pipes" | "deadline") => "flows.pipes",
        ("flows.download", "pattern") => "flows.load",
        ("flows.download", "door") => "flows.ordered",
        ("flows.download", "mptcp") => "flows.multipath",
        ("flows.download", "ptcp") => "flows.parallel",
        ("flows.download", "rcp") => "flows.asked",
        ("flows.download", "striping") => "flows.striped",
        ("events.0", "join" | "leave" | "start" | "stop" | "sleep" | "wake" | "kill" | "restart") => {
            "events.1"
        }
        ("events.0", "handoff" | "to" | "bandwidth") => "events.2",
        (table, _) => table,
    };
    if table.is_empty() { key.to_string() } else { format!("{table}.{key}") }
}

/// Of the file with wires or, for keys of the air, the one without; of the one with base stations for theirs.
fn read(table: &str, set: &[&str]) -> Option<Scenario> {
    let file = match table {
        "radio.cells" => CELLS,
        "cell" | "cell.dual_mode" | "cell.energy" => SLOTTED,
        _ if AIR_TABLES.contains(&table) => AIR,
        _ => FILE,
    };
    ScenarioFile::from_text("defaults.toml", file).scenario(None, set).ok()
}

/// The value that a default names; `None` for one in words.
fn value_of(default: &str) -> Option<&str> {
    let quoted = default.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match quoted {
        Some(inner) => Some(inner).filter(|inner| !inner.contains('"')),
        None => Some(default).filter(|text| {
            let is_number = |first: char| first.is_ascii_digit() || first == '[';
            let digits = text.strip_prefix('-').unwrap_or(text);
            *text == "true" || *text == "false" || digits.starts_with(is_number)
        }),
    }
}

#[test]
fn a_default_that_is_written_down_changes_nothing() {
    let (mut held, mut wrong) = (0, Vec::new());
    for profile in ["modern", "paper"] {
        let profile = format!("nodes.proxy.profile={profile}");
        for (table, keys) in tables() {
            for key in keys {
                let Some(value) = value_of(key.default) else {
                    assert!(
                        IN_WORDS.contains(&key.default),
                        "{table}.{}: what is {}?",
                        key.name,
                        key.default
                    );
                    continue;
                };
                if key.name == "profile" && table == "nodes.proxy" {
                    continue;
                }
                let path = path(table, key.name);
                let (count, written) = (path.replace("spacing", "count=1"), format!("{path}={value}"));
                let company = company(&path);
                let mut set: Vec<&str> = match AIR_TABLES.contains(&table) {
                    true => company.iter().map(String::as_str).collect(),
                    // A discipline's parameters need the discipline.
                    false if table == "links.managed.queue" => {
                        company.iter().map(String::as_str).chain([profile.as_str()]).collect()
                    }
                    false => vec![profile.as_str()],
                };
                let plain = read(table, &set).expect("a good file");
                if key.name == "spacing" {
                    set.push(&count);
                }
                set.push(&written);
                if read(table, &set).as_ref() != Some(&plain) {
                    wrong.push(format!("{profile}: {written}"));
                }
                held += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "not what holds without a word:\n{}", wrong.join("\n"));
    assert!(held >= 60, "{held}");
}

fn names<T>(list: &'static [Name<T>]) -> impl Iterator<Item = String> {
    list.iter().map(|name| name.name.to_string())
}

/// Values of every kind that a key takes.
fn values() -> Vec<String> {
    let plain = [
        "true",
        "false",
        "2",
        "7",
        "0.3",
        "1.5",
        "3 s",
        "45 s",
        "123 ms",
        "123 kbit/s",
        "777 B",
        "100",
        "20 kB",
        "7 packets",
        "0.25",
        "[]",
        "[\"m1\"]",
        "[\"wwan1\"]",
        "[\"wlan2\"]",
        "[\"backbone\"]",
        "[\"proxy\", \"m1\"]",
        "other",
        "m1",
        "m2",
        "proxy",
        "receiver",
        "server",
        "wwan1",
        "wwan2",
        "wlan2",
        "backbone",
        "forward",
        "download",
        "{ rate = \"5 Mbit/s\" }",
        "{ mss = \"1000 B\" }",
        "{ coupled = true }",
        "{ coupling = \"lia\" }",
        "td-t1x8",
        "{ report_repeats = 2 }",
        "{ buffer = \"9 kB\" }",
        "{ beacon = \"1 s\" }",
        "asked",
        "{ interval = \"1 s\" }",
        "{ extra = { server = \"other\" } }",
        "{ other = { summary = \"x\" } }",
    ];
    let of_the_air = ["off", "h-2", "3", "600", "-80", "[\"h-1\", \"h-2\"]", "[3, 4]", "{ h-3 = 6 }"];
    plain.into_iter().chain(of_the_air).chain(OF_CELLS).map(str::to_string).chain(registered()).collect()
}

/// Every name that there is.
fn registered() -> impl Iterator<Item = String> {
    names(registry::NODE_KINDS)
        .chain(names(registry::TRANSPORTS))
        .chain(names(registry::PATTERNS))
        .chain(names(registry::PROFILES))
        .chain(names(registry::CONGESTION))
        .chain(names(registry::HYSTART).chain(names(registry::ECN_ECHO)))
        .chain(names(registry::SCHEDULERS))
        .chain(names(registry::SCHEDULING))
        .chain(names(registry::REVERSE_PATH))
        .chain(names(registry::PROXY_PROFILES))
        .chain(names(registry::WEIGHT_UNITS).chain(names(registry::LINK_STATES)))
        .chain(names(registry::QUEUES).chain(names(registry::OUTAGES)).chain(names(registry::TUNNELS)))
        .chain(names(registry::RCP_OPENERS).chain(names(registry::STRIPED_OVER)))
        .chain(names(registry::REASSIGNMENT).chain(names(registry::RESUME_ORDER)))
        .chain(names(registry::MPTCP_SCHEDULERS).chain(names(registry::MPTCP_COUPLINGS)))
        .chain(names(registry::MEDIUM_ACCESS))
        .chain(names(registry::ADDRESS_RESOLUTION))
        .chain(names(registry::INTERFACE_QUEUES).chain(names(registry::RATE_CONTROL)))
        .chain(names(registry::PROPAGATION))
        .chain(names(registry::FADING).chain(names(registry::RECEPTION)))
        .chain(names(registry::MOBILITY))
        .chain(names(registry::WAYPOINT_STARTS))
        .chain(names(registry::ROUTING))
        .chain(names(registry::CELL_ACCESS).chain(names(registry::REUSE)))
}

/// Values of keys of cells.
const OF_CELLS: [&str; 2] = ["[\"west\"]", "{ car = \"wwan\" }"];

/// Where a key needs company to be read: what else is written.
fn company(path: &str) -> Vec<String> {
    let alone = |set: &[&str]| set.iter().map(|text| (*text).to_string()).collect();
    // What a channel inherits is company too.
    match path.replace("radio.channel.1.", "radio.").as_str() {
        "nodes.proxy.learn_rates" => {
            alone(&["nodes.proxy.window_control=false", "nodes.proxy.standby=false"])
        }
        "nodes.proxy.link_state" => alone(&["nodes.proxy.profile=paper"]),
        "nodes.proxy.fec" => alone(&["nodes.proxy.receipts=true"]),
        "flows.load.pattern" => alone(&["flows.load.on=1 s", "flows.load.off=1 s"]),
        "flows.download.spacing" => alone(&["flows.download.count=2"]),
        "flows.striped.striping.wide_window" => alone(&["flows.striped.striping.wide_links=[\"wlan1\"]"]),
        "links.managed.queue.target" => alone(&["links.managed.queue.discipline=pie"]),
        "links.managed.queue.interval" => alone(&["links.managed.queue.discipline=codel"]),
        "links.managed.queue.quantum" | "links.managed.queue.queues" => {
            alone(&["links.managed.queue.discipline=fq-codel"])
        }
        "links.managed.queue.update" | "links.managed.queue.max_burst" => {
            alone(&["links.managed.queue.discipline=pie"])
        }
        "radio.exponent" | "radio.reference_m" | "radio.shadowing_db" => {
            alone(&["radio.propagation=log-distance"])
        }
        "radio.sleep_period" => alone(&["radio.awake=10 ms"]),
        "radio.awake" => alone(&["radio.sleep_period=700 s"]),
        "radio.aggregation.packets" | "radio.aggregation.bytes" | "radio.aggregation.airtime" => {
            alone(&["radio.medium_access=802.11g", "radio.aggregation={}"])
        }
        "radio.polling.access_point" => alone(&["radio.medium_access=802.11b"]),
        "radio.polling.stations" | "radio.polling.period" | "radio.polling.max_duration" => alone(&[
            "radio.medium_access=802.11b",
            "radio.polling.access_point=h-3",
            if path.ends_with("max_duration") {
                "radio.polling.period=50 s"
            } else {
                "radio.hosts=[\"h-1\", \"h-2\", \"h-3\"]"
            },
        ]),
        "radio.slots.owners" => alone(&["radio.slots.slot=10 ms"]),
        "radio.slots.slot" => alone(&["radio.slots.owners=[\"h-1\"]"]),
        "radio.slots.guard" => alone(&["radio.slots.owners=[\"h-1\"]", "radio.slots.slot=5 s"]),
        "radio.cells.relay_below_db" => alone(&["radio.channels={ car = [1, 11] }", "routing={}"]),
        "cell.period_slots" | "cell.reuse" | "cell.stations" => alone(&["cell.access=assisted"]),
        "cell.dual_mode" => alone(&["cell.access=dual-mode"]),
        "cell.access_points" => alone(&["cell.access=dual-mode"]),
        "cell.access_point_range_m" | "cell.access_point_rate" => {
            alone(&["cell.access=interworking", "cell.access_points=[\"west\"]"])
        }
        dual_mode if dual_mode.starts_with("cell.dual_mode.") => alone(&["cell.access=dual-mode"]),
        "radio.energy.mains" => alone(&["radio.energy.battery_j=5"]),
        "radio.noise_dbm" => alone(&["radio.reception=error-curves"]),
        "radio.nakagami_m" => alone(&["radio.fading=nakagami"]),
        "mobility.speed_m_per_s" | "mobility.pause" | "mobility.start" => {
            alone(&["mobility.model=random-waypoint"])
        }
        "mobility.memory" | "mobility.interval" => alone(&["mobility.model=gauss-markov"]),
        "mobility.blocks" => alone(&["mobility.model=manhattan"]),
        // An event says one thing.
        "events.1.join" | "events.1.start" | "events.1.stop" | "events.1.sleep" | "events.1.wake"
        | "events.1.kill" | "events.1.restart" => {
            let other = path.replace("events.1.", "");
            let before = if other == "join" { "nodes.m1.present=false" } else { "name=x" };
            vec![before.to_string(), format!("events=[{{ at = \"20 s\", {other} = \"X\" }}]")]
        }
        _ => Vec::new(),
    }
}

/// Keys that are tried elsewhere.
const APART: [&str; 6] = ["trace", "kind", "file", "places", "tune", "channel"];

/// Sections that hold everything else.
const SECTIONS: [&str; 15] = [
    "cell",
    "dual_mode",
    "nodes",
    "links",
    "flows",
    "programs",
    "events",
    "radio",
    "mobility",
    "routing",
    "energy",
    "slots",
    "aggregation",
    "polling",
    "cells",
];

#[test]
fn every_key_makes_a_difference() {
    let (values, mut dead) = (values(), Vec::new());
    for (table, keys) in tables() {
        for key in keys {
            let path = path(table, key.name);
            // Files of their own; places stand instead of an area; radios to tune are in the tests of cells.
            if SECTIONS.contains(&key.name) || APART.contains(&key.name) {
                continue;
            }
            let company = company(&path);
            let differs = |value: &String| match company.last().filter(|last| last.starts_with("events=")) {
                Some(event) => {
                    let event = event.replace('X', value);
                    read(table, &[company[0].as_str(), event.as_str()]).is_some()
                }
                None => {
                    let others: Vec<&str> = company.iter().map(String::as_str).collect();
                    let written = format!("{path}={value}");
                    let with = read(table, &[others.clone(), vec![written.as_str()]].concat());
                    with.is_some() && with != read(table, &others)
                }
            };
            if !values.iter().any(differs) {
                dead.push(path);
            }
        }
    }
    assert!(dead.is_empty(), "no value makes a difference:\n{}", dead.join("\n"));
}
