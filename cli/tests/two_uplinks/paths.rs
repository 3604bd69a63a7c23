//! Uplinks of other kinds: IPv6 inside and outside the tunnels, and paths that take smaller packets than their devices.
use crate::network::{INTERNET, LINES, Machine, Network, Site, ip, wait_for};
use crate::transfer::{Direction, Transfer, goodput_bps};
use crate::{GUIDE, page, type_otherwise, type_until, without_logs};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The same hosts by IPv6.
const INTERNET_V6: &str = "2001:db8:10::10";
const SERVER_V6: &str = "[2001:db8:1::1]:51820";

/// What the narrow path takes, in bytes.
const NARROW: usize = 1400;

/// How the guide invites a home that is to have IPv6.
fn invitation_with_ipv6() -> &'static str {
    let quoted = GUIDE.split('`').find(|part| part.starts_with("prismux invite house --address"));
    quoted.expect("the guide says how")
}

/// A line of the guide, for a home that is to have IPv6 too.
fn with_ipv6(line: &str) -> String {
    line.replace("prismux invite house", invitation_with_ipv6())
}

/// Gives everybody IPv6: of each provider a prefix of its own, no NAT.
fn add_ipv6(network: &Network) {
    let Network { internet, server, core, sites, .. } = network;
    let Site { home, lan, providers } = &sites[0];
    ip(internet, "address add 2001:db8:10::10/64 dev eth0");
    ip(core, "address add 2001:db8:10::1/64 dev internet");
    ip(&server.space, "address add 2001:db8:1::1/64 dev eth0");
    ip(core, "address add 2001:db8:1::fe/64 dev server");
    ip(internet, "route add default via 2001:db8:10::1");
    ip(&server.space, "route add default via 2001:db8:1::fe");
    for (n, provider) in providers.iter().enumerate() {
        ip(core, &format!("route add 2001:db8:3{n}::/64 dev line{n}"));
        ip(provider, "-6 route add default dev up0");
        ip(provider, &format!("address add 2001:db8:3{n}::1/64 dev customer"));
        ip(&home.space, &format!("address add 2001:db8:3{n}::2/64 dev wan{n}"));
        let metric = 100 * (n + 1);
        ip(&home.space, &format!("route add default via 2001:db8:3{n}::1 dev wan{n} metric {metric}"));
    }
    ip(&home.space, "address add fd50::1/64 dev lan0");
    ip(lan, "address add fd50::10/64 dev eth0");
    ip(lan, "route add default via fd50::1");
}

/// In transfers from and to each host either line carries a million bytes at least.
fn both_lines_carry(network: &Network, hosts: &[&str]) {
    for host in hosts {
        for direction in [Direction::Down, Direction::Up] {
            let carried = || [0, 1].map(|line| network.lines.carried(line, direction as usize));
            let before = carried();
            let transfer = Transfer::start_with(network, 0, host, direction, u64::MAX);
            wait_for(&format!("{host}, {direction:?}: both lines carry it"), || {
                carried().iter().zip(before).all(|(after, before)| *after > before + 1_000_000)
            });
            transfer.give_up();
        }
    }
}

/// Networks behind the home have IPv6 and IPv4, over uplinks with IPv4.
pub fn ipv6_inside() {
    let network = Network::new();
    add_ipv6(&network);
    let before = [network.server.configuration(), network.home().configuration()];
    type_otherwise(&network, "prismux status", with_ipv6);
    both_lines_carry(&network, &[INTERNET_V6, INTERNET]);
    network.home().run("prismux down");
    network.server.run("prismux down");
    let after = [network.server.configuration(), network.home().configuration()];
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(without_logs(after), without_logs(before), "what is left");
    }
}

/// The gateway has an IPv6 address alone, and so have the uplinks.
pub fn ipv6_outside() {
    let network = Network::new();
    add_ipv6(&network);
    for n in [0, 1] {
        network.take_address(n, n + 2);
    }
    let by_ipv6 = |line: &str| with_ipv6(line).replace("192.0.2.1:51820", SERVER_V6);
    let before = network.home().configuration();
    type_otherwise(&network, "prismux status", by_ipv6);
    both_lines_carry(&network, &[INTERNET, INTERNET_V6]);
    network.home().run("prismux down");
    assert_eq!(without_logs(&network.home().configuration()), without_logs(&before));
}

/// What one end knows that the second line takes of what it sends.
fn path_mtu_bytes(end: &Machine) -> Option<usize> {
    page(end)["links"][1]["path_mtu_bytes"].as_u64().map(|bytes| bytes as usize)
}

/// Whether both ends know that the second line is narrow.
fn is_known(network: &Network) -> bool {
    [&network.server, network.home()].into_iter().all(|end| path_mtu_bytes(end) == Some(NARROW))
}

/// A transfer is begun while nobody may know yet that the second line is narrow, as `narrow` makes it; then both ends
/// know, and both lines carry.
fn from_the_beginning(narrow: impl FnOnce(&Network)) {
    let network = Network::new();
    add_ipv6(&network);
    narrow(&network);
    type_otherwise(&network, "prismux status", with_ipv6);
    Transfer::start(&network, Direction::Down, 2_000_000).finish();
    wait_for("both ends know", || is_known(&network));
    both_lines_carry(&network, &[INTERNET, INTERNET_V6]);
}

/// A router of the second line has an MTU of 1400, and says so.
pub fn narrow_and_told() {
    from_the_beginning(|network| {
        ip(&network.core, &format!("link set line1 mtu {NARROW}"));
        ip(&network.sites[0].providers[1], &format!("link set up0 mtu {NARROW}"));
    });
}

/// What is larger than 1400 bytes vanishes on the second line.
pub fn narrow_and_silent() {
    from_the_beginning(|network| network.lines.widest[1].store(NARROW, Ordering::Relaxed));
}

/// In the middle of a transfer the second line takes less than before, and nobody says so; then as much again.
pub fn narrower_under_way() {
    let network = Network::new();
    type_until(&network, "prismux status");
    for (direction, sender) in [(Direction::Down, &network.server), (Direction::Up, network.home())] {
        let transfer = Transfer::start(&network, direction, u64::MAX);
        wait_for("it is under way", || transfer.arrived() > 1_000_000);
        network.lines.widest[1].store(NARROW, Ordering::Relaxed);
        wait_for("the sending end finds out", || path_mtu_bytes(sender) == Some(NARROW));
        let carried = || network.lines.carried(1, direction as usize);
        let before = carried();
        wait_for("the line carries what it can", || carried() > before + 1_000_000);
        network.lines.widest[1].store(usize::MAX, Ordering::Relaxed);
        wait_for("the sending end finds out", || path_mtu_bytes(sender).is_none());
        transfer.give_up();
    }
}

/// Of what two uplinks can carry between them, a transfer gets at least this share.
const SHARE: f64 = 0.93;
/// Bytes around the payload of a full segment on a line: tunnel and number, IPv4 or IPv6, TCP with timestamps.
const AROUND: [usize; 2] = [68 + 20 + 32, 68 + 40 + 32];
/// A sender has found the rate by then.
const WARM_UP: Duration = Duration::from_secs(2);
/// A busy machine takes from a transfer, and nothing gives to it: the best of so many counts.
const TRIES: usize = 4;
/// More are not begun for those that say nothing, since the machine did not serve the lines.
const MOST_TRIES: usize = 8;

/// The share of what the lines can carry that a transfer gets whose packets have `mtu` bytes on them.
fn share_of_sum(network: &Network, host: &str, direction: Direction, mtu: usize) -> f64 {
    let sum_bps: f64 = LINES.iter().map(|line| line[direction as usize].mbps * 1e6).sum();
    let around = AROUND[usize::from(host.contains(':'))];
    let possible_bps = sum_bps * (mtu - around) as f64 / mtu as f64;
    let transfer = Transfer::start_with(network, 0, host, direction, (possible_bps / 8.0 * 7.0) as u64);
    goodput_bps(&transfer.finish(), WARM_UP) / possible_bps
}

/// Transfers down and up, by IPv4 and IPv6, get their share of both uplinks, which have the same MTU or not.
pub fn share_of_the_sum() {
    for mtu in [1500, NARROW] {
        let network = Network::new();
        add_ipv6(&network);
        network.lines.widest[1].store(mtu, Ordering::Relaxed);
        type_otherwise(&network, "prismux status", with_ipv6);
        if mtu == NARROW {
            wait_for("both ends find out", || is_known(&network));
        }
        for (host, direction) in [INTERNET, INTERNET_V6]
            .into_iter()
            .flat_map(|host| [Direction::Down, Direction::Up].map(|direction| (host, direction)))
        {
            let (mut shares, mut counted, mut reached) = (Vec::new(), 0, false);
            while !reached && counted < TRIES && shares.len() < MOST_TRIES {
                let measure = || share_of_sum(&network, host, direction, mtu);
                let (share, counts) = network.lines.while_served(measure);
                shares.push(share);
                (reached, counted) = (share >= SHARE, counted + usize::from(counts));
            }
            // Lines that are no better than ordinary programs are not served at all on a machine that has many.
            let decides = counted == TRIES || network.lines.is_preferred.load(Ordering::Relaxed);
            println!("{host}, {direction:?}, {mtu} bytes: {shares:.3?} of the sum");
            assert!(reached || !decides, "{host}, {direction:?}, {mtu} bytes: {shares:.3?} of the sum");
        }
    }
}
