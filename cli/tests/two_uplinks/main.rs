//! The guide "Two uplinks in ten minutes", typed: real daemons, providers' NAT, kernel TCP, cables pulled and plugged.
//!
//! `cargo test -p prismux --test two_uplinks`. With `-- --measure` it prints what the uplinks give, and how long
//! failover takes; with words behind it (throughput, table, failover, collapse, uploads, datagrams, backup, published,
//! "outages of 2 s") that alone. With `-- --page home COMMAND` (or `server`) it runs a command where the page of that
//! host is at 127.0.0.1:9587. With `PRISMUX=FILE` in the environment the daemons are those of another build.
#![allow(
    clippy::disallowed_macros,
    reason = "a program that tells what it measures, and why a test is skipped"
)]

mod caps;
mod community;
mod contents;
mod datagrams;
mod emulator;
mod failover;
mod fleet;
mod mdns;
mod measure;
mod network;
mod outages;
mod page;
mod paths;
mod published;
mod rights;
mod settlement;
mod transfer;
mod workers;

use network::{Machine, Network, ip, wait_for};
use prismux_linux::privileges;
use prismux_namespaces::Test;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::Ordering;
use transfer::{Direction, Transfer};

const GUIDE: &str = include_str!("../../../docs/guides/two-uplinks.md");

/// What goes on whatever else the machine does: two at a time.
const SIDE_BY_SIDE: &[Test] = &[
    ("what_the_guide_says_works_and_leaves_nothing_behind", the_guide),
    ("a_home_that_is_killed_is_tidied_up_after", killed_home),
    ("connections_survive_either_end_being_killed", killed_and_started_again),
    ("a_route_of_the_owner_is_not_touched", foreign_routes),
    ("an_uplink_whose_cap_is_used_up_rests_and_downloads_go_on_over_the_other_one", caps::cap_is_used_up),
    ("a_backup_carries_nothing_while_the_first_uplink_lives_and_takes_over_when_it_dies", caps::backup),
    ("an_uplink_with_a_rate_limit_carries_no_more_in_either_direction", caps::rate_limit),
    ("a_home_whose_rights_are_revoked_is_out_at_once_and_stays_out", rights::revoked),
    ("neighbours_find_each_other_and_one_lends_an_uplink_when_its_owner_says_so", community::lends),
    ("a_neighbour_that_is_killed_midway_owes_what_comes_from_elsewhere", contents::one_is_killed),
    ("a_neighbour_that_gives_wrong_bytes_is_found_out_and_left", contents::one_lies),
    ("who_does_not_hold_the_secret_gets_nothing_from_neighbours", contents::strangers),
    ("what_a_neighbour_lends_is_signed_by_both_and_verified_by_anybody", settlement::signed_by_both),
    ("a_neighbour_that_owes_its_credit_gets_nothing_more_until_it_lends_in_return", settlement::on_credit),
    ("a_box_on_a_battery_lends_until_it_is_low", settlement::until_the_battery_is_low),
    ("neighbours_find_a_lender_by_multicast_dns_over_ipv4_and_ipv6", mdns::finds),
    ("a_home_of_a_fleet_is_taken_over_when_its_gateway_is_killed_and_etcd_may_be_away", fleet::works),
    ("whatever_fails_no_connection_is_lost", failover::nothing_is_lost),
    ("datagrams_go_on_when_a_cable_is_pulled", datagrams::pulled_cable),
    ("workers_at_both_ends_begin_in_a_download_and_carry_it_on", workers::both_ends),
    ("networks_behind_a_home_have_ipv6_over_uplinks_with_ipv4", paths::ipv6_inside),
    ("a_gateway_is_reached_by_ipv6_alone", paths::ipv6_outside),
    ("a_path_takes_1400_bytes_and_a_router_says_so", paths::narrow_and_told),
    ("a_path_takes_1400_bytes_and_nobody_says_so", paths::narrow_and_silent),
    ("a_path_that_takes_less_in_the_middle_of_a_transfer_is_noticed", paths::narrower_under_way),
    ("repairs_give_back_what_uplinks_lose_down_and_up", datagrams::lossy_lines),
];

/// What judges how much each line carries, one after the other, so that none slows another down.
const ALONE: &[Test] = &[
    ("neighbours_share_a_file_in_a_third_of_the_time", contents::shared),
    ("two_homes_at_one_gateway_do_not_disturb_each_other", two_homes),
    (
        "transfers_get_their_share_of_both_uplinks_by_ipv4_and_ipv6_and_past_a_narrow_path",
        paths::share_of_the_sum,
    ),
    ("datagrams_of_a_quick_flow_use_both_uplinks_and_keep_their_order", datagrams::quick_flow),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for program in ["nft", "unshare", "nsenter"] {
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            println!("skipped: there is no {program}");
            return ExitCode::SUCCESS;
        }
    }
    let page = arguments.iter().position(|argument| argument == "--page");
    if page.is_none() && !arguments.iter().any(|argument| argument == "--measure") {
        return prismux_namespaces::run(&[(SIDE_BY_SIDE, 2), (ALONE, 1)]);
    }
    if let Err(error) = privileges::ensure_privileges() {
        println!("no namespaces can be made: {error}");
        return ExitCode::FAILURE;
    }
    if let Some(index) = page {
        page::show(&arguments[index + 1..]);
        return ExitCode::SUCCESS;
    }
    let what = arguments.iter().find(|argument| !argument.starts_with('-'));
    measure::print(what.map_or("", String::as_str));
    ExitCode::SUCCESS
}

/// The guide's command lines: where each is typed, and what.
fn commands() -> Vec<(&'static str, &'static str)> {
    let of_one_home = GUIDE.split("## Another home").next().unwrap_or_default();
    let lines = of_one_home.lines().filter_map(|line| line.strip_prefix("    "));
    let typed = lines.filter_map(|line| line.split_once("# "));
    let commands: Vec<_> = typed.filter(|(host, _)| !host.is_empty()).collect();
    assert!(commands.len() >= 6 && commands.iter().all(|(host, _)| ["server", "home"].contains(host)));
    commands
}

/// Types the guide's commands up to `end`, and from it on returns those that are left.
fn type_until(network: &Network, end: &str) -> Vec<(&'static str, &'static str)> {
    type_otherwise(network, end, str::to_owned)
}

/// As [`type_until`], each line as `edit` has it.
fn type_otherwise(
    network: &Network,
    end: &str,
    edit: impl Fn(&str) -> String,
) -> Vec<(&'static str, &'static str)> {
    let commands = commands();
    let end = commands.iter().position(|(_, line)| *line == end).expect("the command is in the guide");
    let mut invitation = String::new();
    for (host, line) in &commands[..end] {
        let machine = if *host == "server" { &network.server } else { network.home() };
        let said = machine.run(&edit(line).replace("INVITATION", invitation.trim()));
        if line.starts_with("prismux invite") {
            invitation = said;
        }
    }
    wait_for("both uplinks register", || links(network.home(), "up") == 2);
    commands[end..].to_vec()
}

fn page(home: &Machine) -> serde_json::Value {
    serde_json::from_str(&home.run("prismux status --json")).unwrap()
}

/// Links of the home of which something is true.
fn links(home: &Machine, what: &str) -> usize {
    page(home)["links"].as_array().unwrap().iter().filter(|link| link[what] == true).count()
}

/// Moves `bytes` and says how much of them each line carried at least, in percent.
fn share_of_the_lesser_line(network: &Network, direction: Direction, bytes: u64) -> u64 {
    let carried = || [0, 1].map(|line| network.lines.carried(line, direction as usize));
    let before = carried();
    Transfer::start(network, direction, bytes).finish();
    let after = carried();
    let each = [after[0] - before[0], after[1] - before[1]];
    100 * each.iter().min().unwrap() / each.iter().sum::<u64>()
}

fn the_guide() {
    let network = Network::new();
    network.home().run("sysctl -w net.ipv4.conf.all.rp_filter=1");
    let before = [network.server.configuration(), network.home().configuration()];
    let rest = type_until(&network, "prismux down");
    for direction in [Direction::Down, Direction::Up] {
        // Of a line that a machine has kept silent for a moment a transfer takes less for a while.
        wait_for(&format!("{direction:?}: the lesser uplink carries its part"), || {
            let measure = || share_of_the_lesser_line(&network, direction, 6_000_000);
            let (share, counts) = network.lines.while_served(measure);
            assert!(share >= 15 || !counts, "{direction:?}: the lesser uplink carried {share} %");
            share >= 15
        });
    }
    // The better uplink is pulled in the middle of a transfer, and plugged in again.
    for (direction, bytes) in [(Direction::Down, 8_000_000), (Direction::Up, 4_000_000)] {
        let transfer = Transfer::start(&network, direction, bytes);
        wait_for("it is under way", || transfer.arrived() > bytes / 4);
        network.unplug(0);
        wait_for("it goes on over the other one", || transfer.arrived() > bytes / 2);
        wait_for("the home has noticed", || links(network.home(), "up") == 1);
        network.plug(0);
        transfer.finish();
        wait_for("it is used again", || links(network.home(), "up") == 2);
    }
    // A line that dies without a word, and comes back.
    let transfer = Transfer::start(&network, Direction::Down, 6_000_000);
    wait_for("it is under way", || transfer.arrived() > 1_000_000);
    network.lines.is_dead[0].store(true, Ordering::Relaxed);
    wait_for("it goes on over the other one", || transfer.arrived() > 3_000_000);
    network.lines.is_dead[0].store(false, Ordering::Relaxed);
    transfer.finish();
    for (host, line) in rest {
        let machine = if host == "server" { &network.server } else { network.home() };
        machine.run(line);
    }
    let after = [network.server.configuration(), network.home().configuration()];
    let names = ["server", "home"];
    for ((name, before), after) in names.iter().zip(&before).zip(&after) {
        assert_eq!(without_logs(after), without_logs(before), "what is left at the {name}");
    }
}

/// Logs and empty folders may stay, and routes that come back with a cable are the last of their table. An address is
/// one while the kernel still looks for others who have it.
fn without_logs(configuration: &str) -> String {
    let lines = configuration.lines().filter(|line| !line.starts_with("/run/prismux"));
    let mut lines: Vec<String> = lines.map(|line| line.replace(" tentative", "")).collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn killed_home() {
    let network = Network::new();
    let before = network.home().configuration();
    type_until(&network, "prismux status");
    network.home().run(&format!("kill -KILL {}", page(network.home())["pid"]));
    wait_for("it is gone", || !network.home().try_run("prismux status").0);
    let said = network.home().run("prismux down");
    assert!(said.contains("undid"), "{said}");
    assert_eq!(without_logs(&network.home().configuration()), without_logs(&before));
}

/// Gateway and home are killed in the middle of a download through NAT, and started again.
fn killed_and_started_again() {
    let network = Network::new();
    type_until(&network, "prismux status");
    let bytes = 12_000_000;
    let transfer = Transfer::start(&network, Direction::Down, bytes);
    for (machine, part) in [(&network.server, 4), (network.home(), 2)] {
        wait_for("it is under way", || transfer.arrived() > bytes / part);
        machine.run(&format!("kill -KILL {}", page(machine)["pid"]));
        wait_for("it is gone", || !machine.try_run("prismux status").0);
        machine.run("prismux up --detach");
    }
    transfer.finish();
}

/// A more special route of the owner's goes on to be used, and a default route of its own is there after `down`.
fn foreign_routes() {
    let network = Network::new();
    ip(&network.home().space, "route add 198.18.0.0/15 via 192.168.1.1 dev wan1");
    let before = network.home().run("ip route");
    type_until(&network, "prismux status");
    let way = |to: &str| network.home().run(&format!("ip route get {to}"));
    assert!(way("198.18.0.1").contains("dev wan1"), "{}", way("198.18.0.1"));
    assert!(way("203.0.113.10").contains("dev prism0"), "{}", way("203.0.113.10"));
    let own = network.home().run("ip route get 203.0.113.10 from 192.168.1.2");
    assert!(own.contains("dev wan0"), "what answers from an uplink's address stays there: {own}");
    let during = network.home().run("ip route");
    assert!(before.lines().all(|line| during.contains(line.trim())), "{before}\n{during}");
    network.home().run("prismux down");
    assert_eq!(network.home().run("ip route"), before);
}

/// Types the lines of the guide's section about another home.
fn invite_another(network: &Network, another: &Machine) {
    let section = GUIDE.split("## Another home").nth(1).and_then(|rest| rest.split("\n## ").next());
    let lines = section.expect("the section is in the guide").lines();
    let mut invitation = String::new();
    for (host, line) in lines.filter_map(|line| line.strip_prefix("    ")?.split_once("# ")) {
        let machine = if host == "server" { &network.server } else { another };
        let said = machine.run(&line.replace("INVITATION", invitation.trim()));
        if line.starts_with("prismux invite") {
            invitation = said;
        }
    }
    wait_for("the other home's uplinks register", || links(another, "up") == 2);
}

/// A second home comes while the first one downloads, both download at once, and one leaves.
fn two_homes() {
    let network = Network::with_homes(2);
    type_until(&network, "prismux status");
    // It goes on for as long as the second home takes.
    let first = Transfer::start_at(&network, 0, Direction::Down, u64::MAX);
    wait_for("it is under way", || first.arrived() > 500_000);
    invite_another(&network, &network.sites[1].home);
    let carried = || [0, 1, 2, 3].map(|line| network.lines.carried(line, Direction::Down as usize));
    let before = carried();
    let second = Transfer::start_at(&network, 1, Direction::Down, 12_000_000);
    second.finish();
    let during = carried();
    for line in [0, 1, 2, 3] {
        let bytes = during[line] - before[line];
        assert!(bytes > 600_000, "line {line} of both homes' carried {bytes} bytes");
    }
    let page = page(&network.server);
    let homes: Vec<&str> =
        page["links"].as_array().unwrap().iter().filter_map(|link| link["home"].as_str()).collect();
    assert_eq!(homes, ["house", "house", "flat", "flat"]);
    network.sites[1].home.run("prismux down");
    let arrived = first.arrived();
    wait_for("the first goes on", || first.arrived() > arrived + 500_000);
    first.give_up();
    network.sites[0].home.run("prismux down");
    network.server.run("prismux down");
}
