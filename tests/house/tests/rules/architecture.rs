//! Dependencies point down only: the manifests are read and held against the picture of the architecture.
use prismux_house::imports::Imports;
use prismux_house::workspace::{
    Package, packages, read, root, rust_sources, shared_dependencies, short_name,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What each crate may use, directly. A protocol uses what lies under it and never a sibling; the simulator
/// and the Linux hosts never use each other; only `study` and what stands on it know both. `tcp` lies under the other
/// transports because their loss detection and congestion control is its public
/// engine; `r2cp` is several pipes of `rcp`; `prism` plans with what `receipts` measure, and `fec` protects what these
/// number.
const MAY_USE: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("properties", &[]),
    ("script", &["units"]),
    ("endpoint", &["units"]),
    ("wire", &["units"]),
    ("trace", &["units", "wire"]),
    ("tcp", &["units", "script", "endpoint", "wire"]),
    ("receipts", &["units", "script", "endpoint", "wire"]),
    ("shared-bottleneck", &["units"]),
    ("fec", &["units", "endpoint", "wire", "receipts"]),
    ("datagrams", &["units", "endpoint"]),
    ("sharing", &["units"]),
    ("community", &["units", "endpoint"]),
    ("prism", &["units", "script", "endpoint", "wire", "receipts", "tcp"]),
    ("prism-trace", &["wire", "prism", "trace"]),
    ("ptcp", &["units", "script", "endpoint", "wire", "tcp"]),
    ("mptcp", &["units", "script", "endpoint", "wire", "tcp"]),
    ("rcp", &["units", "script", "endpoint", "wire", "tcp"]),
    ("r2cp", &["units", "script", "endpoint", "wire", "tcp", "rcp"]),
    ("striping", &["units"]),
    ("routing", &["units", "endpoint"]),
    ("adhoc", &["units", "endpoint", "routing"]),
    ("dsr", &["units", "script", "adhoc", "endpoint", "routing"]),
    ("sealed", &["units", "script", "endpoint", "wire"]),
    ("dsdv", &["units", "script", "adhoc", "endpoint", "wire", "routing"]),
    ("aodv", &["units", "script", "adhoc", "endpoint", "wire", "routing"]),
    ("tcp-ho", &["units", "endpoint", "wire", "tcp"]),
    ("tcp-door", &["units", "script", "endpoint", "wire", "tcp"]),
    ("theory", &["endpoint"]),
    ("link", &["units", "endpoint"]),
    ("wireless", &["units", "endpoint"]),
    ("cellular", &["units", "endpoint", "wireless"]),
    (
        "plan",
        &[
            "units", "wire", "tcp", "tcp-door", "prism", "fec", "ptcp", "mptcp", "rcp", "r2cp", "striping",
            "link", "wireless", "cellular", "dsr", "aodv", "dsdv",
        ],
    ),
    (
        "simulator",
        &[
            "units",
            "endpoint",
            "wire",
            "tcp",
            "tcp-ho",
            "tcp-door",
            "prism",
            "prism-trace",
            "ptcp",
            "mptcp",
            "rcp",
            "r2cp",
            "striping",
            "receipts",
            "shared-bottleneck",
            "fec",
            "link",
            "wireless",
            "cellular",
            "routing",
            "dsr",
            "aodv",
            "dsdv",
            "plan",
            "trace",
        ],
    ),
    ("linux", &["units", "endpoint", "wire", "tcp", "tcp-ho"]),
    ("namespaces", &["linux"]),
    (
        "daemons",
        &[
            "units",
            "endpoint",
            "wire",
            "prism",
            "prism-trace",
            "receipts",
            "fec",
            "datagrams",
            "sharing",
            "community",
            "sealed",
            "routing",
            "dsr",
            "aodv",
            "dsdv",
            "plan",
            "trace",
            "linux",
        ],
    ),
    (
        "lab",
        &[
            "units", "endpoint", "wire", "tcp", "prism", "link", "wireless", "cellular", "routing", "dsr",
            "aodv", "dsdv", "plan", "trace", "linux", "daemons",
        ],
    ),
    ("scenario", &["units", "tcp", "tcp-door", "prism", "link", "wireless", "cellular", "plan", "trace"]),
    ("fetch", &["units", "endpoint", "wire", "tcp", "ptcp", "rcp", "r2cp", "community", "sealed", "linux"]),
    (
        "study",
        &[
            "units",
            "endpoint",
            "wire",
            "tcp",
            "tcp-ho",
            "tcp-door",
            "prism",
            "ptcp",
            "rcp",
            "r2cp",
            "theory",
            "link",
            "wireless",
            "cellular",
            "plan",
            "trace",
            "simulator",
            "lab",
            "scenario",
        ],
    ),
    ("view", &["units", "wire", "trace"]),
    ("cli", EVERYTHING),
    ("python", EVERYTHING),
    ("house", &[]),
    ("tests", EVERYTHING),
    ("benches", EVERYTHING),
];

/// The test support that other crates use, in their tests alone.
const SCRIPTS: &str = "script";
/// The ad-hoc networks that routing protocols are tested in.
const ADHOC: &str = "adhoc";
/// How many cases property tests try: any crate's tests may ask.
const PROPERTIES: &str = "properties";
/// What runs tests in network namespaces: any crate's tests may ask.
const NAMESPACES: &str = "namespaces";
/// The rules of the tree themselves; the workspace's tests read sources with them.
const HOUSE: &str = "house";

/// All that the outermost crates may use.
const EVERYTHING: &[&str] = &[
    "units",
    "endpoint",
    "wire",
    "tcp",
    "tcp-ho",
    "tcp-door",
    "prism",
    "ptcp",
    "mptcp",
    "rcp",
    "r2cp",
    "striping",
    "routing",
    "dsr",
    "receipts",
    "shared-bottleneck",
    "fec",
    "datagrams",
    "sharing",
    "community",
    "sealed",
    "aodv",
    "dsdv",
    "theory",
    "link",
    "wireless",
    "cellular",
    "plan",
    "trace",
    "simulator",
    "linux",
    "daemons",
    "lab",
    "fetch",
    "scenario",
    "study",
    "view",
];

/// Crates that see no clock, socket or file, and the only outside crates they may use.
const PURE: &[&str] = &[
    "units",
    "endpoint",
    "wire",
    "tcp",
    "tcp-ho",
    "tcp-door",
    "prism",
    "ptcp",
    "mptcp",
    "rcp",
    "r2cp",
    "striping",
    "receipts",
    "shared-bottleneck",
    "fec",
    "datagrams",
    "sharing",
    "community",
    "sealed",
    "theory",
    "routing",
    "dsr",
    "aodv",
    "dsdv",
    "link",
    "wireless",
    "cellular",
    "plan",
];
const PURE_MAY_USE: &[&str] = &["libm", "hashbrown", "rand_core", "rand_xoshiro"];
/// The one that seals, and its primitives.
const SEALING: (&str, &[&str]) =
    ("sealed", &["base64", "snow", "blake2", "chacha20", "chacha20poly1305", "hkdf", "ring", "sha2"]);

/// The one with a calendar, a file with checksums, and signatures.
const BOOKING: (&str, &[&str]) = ("sharing", &["base64", "chrono", "crc32fast", "ed25519-dalek"]);

/// The one whose wire format has hashes in it.
const HASHING: (&str, &[&str]) = ("mptcp", &["hmac", "sha2"]);

/// The one that reads messages of the Domain Name System.
const NAMING: (&str, &[&str]) = ("community", &["simple-dns"]);

/// The one with an erasure code.
const CODING: (&str, &[&str]) = ("fec", &["reed-solomon-simd"]);

fn is_ours(dependency: &str) -> bool {
    dependency == "prismux" || dependency.starts_with("prismux-")
}

/// Every sentence that the manifests deserve.
fn violations(packages: &[Package]) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut violations = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        let Some(may_use) = allowed.get(name) else {
            violations.push(format!("crate `{name}` has no row in MAY_USE: say what it may use"));
            continue;
        };
        for (dependency, section) in &package.dependencies {
            let short = short_name(dependency);
            let is_open =
                [PROPERTIES, NAMESPACES].contains(&short.as_str()) || (short == HOUSE && name == "tests");
            if is_ours(dependency) && !is_open && !may_use.contains(&short.as_str()) {
                violations.push(format!(
                    "`{name}` must not use `{short}` (in [{section}]): dependencies point down only"
                ));
            }
            let is_support = [SCRIPTS, HOUSE, ADHOC, PROPERTIES, NAMESPACES].contains(&short.as_str());
            if is_support && *section != "dev-dependencies" {
                violations.push(format!("`{name}` must use `{short}` in its tests only"));
            }
            let outside = !is_ours(dependency) && *section == "dependencies";
            let has =
                |(owner, crates): (&str, &[&str])| name == owner && crates.contains(&dependency.as_str());
            if outside
                && PURE.contains(&name)
                && !has(SEALING)
                && !has(HASHING)
                && !has(BOOKING)
                && !has(NAMING)
                && !has(CODING)
                && !PURE_MAY_USE.contains(&dependency.as_str())
            {
                violations.push(format!("`{name}` is a pure core and must not use `{dependency}`"));
            }
        }
    }
    violations
}

#[test]
fn dependencies_point_down_only() {
    let violations = violations(&packages());
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn a_dependency_that_points_up_is_found() {
    let package = |name: &str, dependency: &str| Package {
        name: name.to_string(),
        folder: Path::new(name).to_path_buf(),
        dependencies: vec![(dependency.to_string(), "dependencies")],
    };
    for (name, dependency) in [
        ("simulator", "prismux-lab"),
        ("lab", "prismux-simulator"),
        ("tcp", "prismux-prism"),
        ("tcp", "prismux-script"),
        ("endpoint", "prismux-trace"),
        ("prism", "serde"),
        ("newcomer", "libm"),
    ] {
        assert_eq!(violations(&[package(name, dependency)]).len(), 1, "{name} -> {dependency}");
    }
}

#[test]
fn the_table_itself_has_no_cycle() {
    // Rows are ordered so that each uses earlier rows only.
    for (index, (name, may_use)) in MAY_USE.iter().enumerate() {
        for used in *may_use {
            let position = MAY_USE.iter().position(|(other, _)| other == used);
            assert!(position.is_some_and(|p| p < index), "`{name}` uses `{used}`, which stands below it");
        }
    }
}

#[test]
fn every_dependency_is_justified() {
    let page = read(Path::new("docs/dependencies.md"));
    let mut names: Vec<String> = shared_dependencies().keys().cloned().collect();
    names.extend(packages().into_iter().flat_map(|p| p.dependencies).map(|(name, _)| name));
    names.sort();
    names.dedup();
    let missing: Vec<_> =
        names.iter().filter(|n| !is_ours(n) && !page.contains(&format!("| `{n}` |"))).collect();
    assert!(missing.is_empty(), "docs/dependencies.md does not say why these are here: {missing:?}");
}

/// The compiler refuses unsafe code (`unsafe_code = "forbid"`) wherever the workspace's lints hold.
#[test]
fn every_crate_but_the_one_that_wraps_system_calls_has_the_lints_of_the_workspace() {
    assert!(read(Path::new("Cargo.toml")).contains("\nunsafe_code = \"forbid\"\n"));
    let own_lints: Vec<String> = packages()
        .into_iter()
        .filter(|package| !read(&package.folder.join("Cargo.toml")).contains("[lints]\nworkspace = true\n"))
        .map(|package| package.name)
        .collect();
    assert_eq!(own_lints, ["linux"]);
}

/// Product code does not panic on purpose, and crates that parse what strangers send do not index. Tests may do both.
#[test]
fn product_code_is_kept_from_unwrapping_panicking_and_indexing() {
    const SUPPORT: &[&str] = &["tests", "house", "script", "adhoc", "properties", "namespaces", "benches"];
    const PARSERS: &[&str] =
        &["wire", "daemons", "trace", "prism", "rcp", "receipts", "sealed", "sharing", "community"];
    /// Files of other crates that read what a stranger sends.
    const PARSING_FILES: &[&str] = &[
        "fetch/src/machine/wire.rs",
        "fetch/src/machine/segment.rs",
        "fetch/src/machine/channel.rs",
        "fetch/src/machine/cookie.rs",
        "fetch/src/machine/handshake.rs",
        "protocols/ptcp/src/header.rs",
        "protocols/mptcp/src/options.rs",
    ];
    let mut complaints = Vec::new();
    for package in packages().into_iter().filter(|package| !SUPPORT.contains(&package.name.as_str())) {
        let roots = ["src/lib.rs", "src/main.rs"].map(|file| package.folder.join(file));
        for file in roots.into_iter().filter(|file| root().join(file).exists()) {
            let text = read(&file);
            let lints = text.lines().find(|line| line.starts_with(LINTS_ON_PANICS)).unwrap_or("");
            let indexing =
                !PARSERS.contains(&package.name.as_str()) || lints.contains("clippy::indexing_slicing");
            if !(lints.contains("clippy::unwrap_used") && lints.contains("clippy::panic") && indexing) {
                complaints.push(file.display().to_string());
            }
        }
    }
    let parsing = PARSING_FILES.iter().map(PathBuf::from);
    let denies =
        |file: &PathBuf| read(file).contains("#![cfg_attr(not(test), deny(clippy::indexing_slicing))]");
    complaints.extend(parsing.filter(|file| !denies(file)).map(|file| file.display().to_string()));
    assert!(complaints.is_empty(), "the lints on panics are missing in {complaints:?}");
}

/// How the line begins, in the root of each crate: lints of the workspace would hold in its tests too.
const LINTS_ON_PANICS: &str = "#![cfg_attr(not(test), deny(clippy::";

/// The transports with a room of their own, as their names begin in code, and that room in the simulator. (R²CP's
/// pipes and the connections of some applications are RCP's machines, so that their rooms name both. Plain TCP,
/// datagrams and the kernel's MPTCP are everybody's.)
const TRANSPORTS: &[(&str, &[&str])] = &[
    ("ptcp", &["flows/ptcp"]),
    ("r2cp", &["flows/r2cp"]),
    ("rcp", &["flows/rcp", "flows/r2cp", "flows/striping"]),
    ("striping", &["flows/striping"]),
    ("tcpprism", &["flows/tcp"]),
    ("tcpho", &["flows/tcp"]),
    ("tcpeln", &["flows/tcp"]),
];

/// Lists of a crate's rooms and of what may come from outside into them, and the tables that turn a plan's transport
/// into the host's: what a new transport is added to.
const LISTS: &[&str] = &[
    "simulator/src/lib.rs",
    "simulator/src/flows.rs",
    "simulator/src/flows/policy.rs",
    "simulator/src/flows/registry.rs",
    "lab/src/orders",
];

/// Where the lab runs TCP-PRISM, its own room.
const LAB_ROOM: &str = "lab/src/traffic/own_tcp.rs";

/// Product files below `folder` whose code has a word that begins with `name`, whatever its case.
fn files_naming(folder: &str, name: &str) -> Vec<String> {
    use prismux_house::rust_source::words;
    use prismux_house::workspace::is_test_code;
    let names = |word: &String| {
        let word = word.to_lowercase().replace('_', "");
        word.strip_prefix("prismux").unwrap_or(&word).starts_with(name)
    };
    let sources =
        rust_sources().into_iter().filter(|(path, _)| path.starts_with(folder) && !is_test_code(path));
    let naming = sources.filter(|(_, source)| words(source).iter().any(names));
    naming.map(|(path, _)| path.display().to_string()).collect()
}

#[test]
fn a_transport_is_named_in_its_own_room_and_one_table_of_each_host() {
    let mut complaints = Vec::new();
    for (name, rooms) in TRANSPORTS {
        let elsewhere = |file: &String| {
            let in_room = rooms.iter().any(|room| file.contains(&format!("simulator/src/{room}")));
            !in_room && file != LAB_ROOM && !LISTS.iter().any(|list| file.contains(list))
        };
        for host in ["network/simulator/src", "lab/src"] {
            let files: Vec<String> = files_naming(host, name).into_iter().filter(elsewhere).collect();
            if !files.is_empty() {
                complaints.push(format!("{name} is named outside its room: {}", files.join(", ")));
            }
        }
        let tables = files_naming("lab/src", name).iter().filter(|file| *file != LAB_ROOM).count();
        let readers = files_naming("scenario/src", name);
        if tables > 1 || readers.len() > 3 {
            complaints.push(format!(
                "{name} is named in {tables} tables of the lab, and in {}",
                readers.join(", ")
            ));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_plan_and_the_scenario_know_no_host() {
    const HOSTS: [&str; 5] = ["simulator", "linux", "daemons", "lab", "fetch"];
    for package in packages().iter().filter(|package| ["plan", "scenario"].contains(&package.name.as_str())) {
        for (dependency, _) in &package.dependencies {
            assert!(!HOSTS.contains(&short_name(dependency).as_str()), "{} uses {dependency}", package.name);
        }
    }
}

/// Most modules of a crate that may import one another in a circle.
const MAX_CIRCLE: usize = 6;

/// A reader who has to know seven modules to understand one of them knows none.
#[test]
fn modules_import_one_another_in_small_circles_only() {
    let all = rust_sources();
    let mut complaints = Vec::new();
    for package in packages() {
        let folder = package.folder.join("src");
        let of_crate = |(path, text): &(std::path::PathBuf, String)| {
            path.strip_prefix(&folder).ok().map(|file| (file.display().to_string(), text.clone()))
        };
        let sources: Vec<_> = all.iter().filter_map(of_crate).collect();
        let circle = Imports::of(&sources).largest_circle();
        if circle.len() > MAX_CIRCLE {
            complaints.push(format!("`{}`: {} modules in a circle: {circle:?}", package.name, circle.len()));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
