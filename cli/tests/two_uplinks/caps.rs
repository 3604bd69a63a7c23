//! What the owner of an uplink allows: caps, accounts that outlive the daemon, and uplinks that stand by.
use crate::network::{Machine, Network, wait_for};
use crate::transfer::{Direction, Transfer};
use crate::{links, page, type_until};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What the first line, which is the better one, may carry.
const CAP_BYTES: u64 = 2_000_000;
/// What may be under way when the cap is used up: both queues of that line, and what it carries in two round trips.
const UNDER_WAY_BYTES: u64 = 160_000 + 2 * 75_000;

/// What both directions of a line have carried.
fn carried(network: &Network, line: usize) -> u64 {
    [Direction::Down, Direction::Up].iter().map(|&way| network.lines.carried(line, way as usize)).sum()
}

/// What the home has booked for an uplink, read by the command.
fn booked(home: &Machine, link: &str) -> u64 {
    let rows: serde_json::Value = serde_json::from_str(&home.run("prismux accounts --json")).unwrap();
    let own = rows.as_array().unwrap().iter().filter(|row| row["link"] == link);
    own.map(|row| row["forward_bytes"].as_u64().unwrap() + row["return_bytes"].as_u64().unwrap()).sum()
}

fn rests(home: &Machine) -> bool {
    page(home)["links"][0]["rests"].is_string()
}

/// A cap is reached in the middle of a download, which goes on whole over the other line; a daemon that is killed has
/// not forgotten it; a greater one lets the uplink work again.
pub fn cap_is_used_up() {
    let network = Network::new();
    let home = network.home();
    type_until(&network, "prismux status");
    home.run("sed -i s/^device.*wan0.*/&\\nsharing={cap_per_month=\"2MB\"}/ /etc/prismux/home.toml");
    home.run("prismux up --detach --restart");
    wait_for("both uplinks register", || links(home, "up") == 2);
    let transfer = Transfer::start(&network, Direction::Down, 8_000_000);
    wait_for("the cap is used up", || rests(home));
    assert!(transfer.arrived() < 8_000_000, "it is under way");
    let said = home.run("prismux explain wan0");
    assert!(said.starts_with("wan0 is not used: its cap of 2 MB a month is used up until "), "{said}");
    transfer.finish();
    let used = carried(&network, 0);
    assert!(
        (CAP_BYTES * 97 / 100..CAP_BYTES + UNDER_WAY_BYTES).contains(&used),
        "the line carried {used} bytes"
    );
    let is_booked = || booked(home, "wan0").abs_diff(used) * 100 <= used * 3;
    wait_for("what the line carried is booked", is_booked);
    home.run(&format!("kill -KILL {}", page(home)["pid"]));
    wait_for("it is gone", || !home.try_run("prismux status").0);
    home.run("prismux up --detach");
    wait_for("the other uplink registers", || links(home, "up") == 1);
    assert!(rests(home));
    Transfer::start(&network, Direction::Down, 2_000_000).finish();
    assert!(carried(&network, 0) - used < 2000, "nothing goes over an uplink that rests");
    home.run("sed -i s/2MB/1GB/ /etc/prismux/home.toml");
    home.run("prismux up --detach --restart");
    wait_for("both uplinks register", || links(home, "up") == 2);
    let before = carried(&network, 0);
    Transfer::start(&network, Direction::Down, 3_000_000).finish();
    assert!(carried(&network, 0) > before + 300_000, "it is used again");
}

/// The guide, and the second line as a backup.
pub fn network_with_backup() -> Network {
    let network = Network::new();
    type_until(&network, "prismux status");
    network.home().append("/etc/prismux/home.toml", "tier = \"backup\"\n");
    network.home().run("prismux up --detach --restart");
    wait_for("both uplinks register", || links(network.home(), "up") == 2);
    wait_for("one stands by", || stands_by(&network.server) && stands_by(network.home()));
    network
}

/// Whether the second line lives and is not to be used, as this host sees it.
pub fn stands_by(machine: &Machine) -> bool {
    let page = page(machine);
    let named = |link: &&serde_json::Value| link["name"] == "wan1" || link["name"] == "house-2";
    page["links"].as_array().unwrap().iter().find(named).unwrap()["rests"] == "one of a better tier lives"
}

/// A backup carries nothing in either direction while the first uplink lives, everything once that has died without a
/// word, and nothing again when it is back.
pub fn backup() {
    let network = network_with_backup();
    let (before, start) = (carried(&network, 1), Instant::now());
    for (direction, bytes) in [(Direction::Down, 3_000_000), (Direction::Up, 1_500_000)] {
        Transfer::start(&network, direction, bytes).finish();
    }
    let (idle, seconds) = (carried(&network, 1) - before, start.elapsed().as_secs_f64());
    println!("the backup carried {idle} bytes in {seconds:.1} s");
    // A call and its answer every second, for as long as it takes, and what finds out how wide its path is.
    assert!((idle as f64) < 15_000.0 + 500.0 * seconds, "the backup carried {idle} bytes in {seconds} s");
    for (direction, bytes) in [(Direction::Down, 6_000_000), (Direction::Up, 3_000_000)] {
        let transfer = Transfer::start(&network, direction, bytes);
        wait_for("it is under way", || transfer.arrived() > bytes / 4);
        network.lines.is_dead[0].store(true, Ordering::Relaxed);
        wait_for("it goes on over the backup", || transfer.arrived() > bytes / 2);
        wait_for("both ends use it", || !stands_by(network.home()) && !stands_by(&network.server));
        network.lines.is_dead[0].store(false, Ordering::Relaxed);
        wait_for("the backup stands by again", || stands_by(network.home()) && stands_by(&network.server));
        transfer.finish();
    }
}

/// Of a line of 10 and 5 Mbit/s its owner lends two: no more comes out of it in either direction, though it is the only
/// one.
pub fn rate_limit() {
    const LIMIT_BPS: f64 = 2e6;
    /// The messages of both ends, which wait for nothing, and what was under way before.
    const BESIDE: f64 = 1.1;
    let network = Network::new();
    type_until(&network, "prismux status");
    network.home().append("/etc/prismux/home.toml", "sharing = { rate_limit = \"2 Mbit/s\" }\n");
    network.home().run("prismux up --detach --restart");
    wait_for("both uplinks register", || links(network.home(), "up") == 2);
    network.unplug(0);
    wait_for("one is left", || links(network.home(), "up") == 1);
    for (direction, bytes) in [(Direction::Down, 1_000_000), (Direction::Up, 500_000)] {
        let (before, start) = (network.lines.carried(1, direction as usize), Instant::now());
        Transfer::start(&network, direction, bytes).finish();
        let passed = (network.lines.carried(1, direction as usize) - before) as f64;
        let allowed = LIMIT_BPS / 8.0 * start.elapsed().as_secs_f64() * BESIDE + 50_000.0;
        assert!(passed < allowed, "{direction:?}: {passed} bytes, of {allowed:.0} allowed");
        assert!(passed > bytes as f64, "{direction:?}: all of it goes over this line");
    }
}
