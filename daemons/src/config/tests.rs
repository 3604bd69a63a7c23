use super::{MemberConfig, ProxyConfig, parse};
use crate::tunnel::{Peer, Transport};
use prismux_prism::{RpcMode, SchedulerKind};
use prismux_units::{Duration, Rate};
use std::path::Path;

const PROXY: &str = include_str!("../../examples/proxy.toml");
const MEMBER: &str = include_str!("../../examples/member.toml");

/// A token of somebody's own in place of the examples'.
fn with_token(text: &str) -> String {
    text.replace("replace-me-with-24-random-bytes", "a-token-that-nobody-else-has")
}

fn proxy(text: &str) -> Result<ProxyConfig, String> {
    parse(Path::new("proxy.toml"), &with_token(text)).map_err(|error| error.to_string())
}

fn member(text: &str) -> Result<MemberConfig, String> {
    parse(Path::new("member.toml"), &with_token(text)).map_err(|error| error.to_string())
}

#[test]
fn the_shipped_examples_are_valid() {
    let proxy = proxy(PROXY).unwrap();
    assert_eq!(proxy.tunnel.udp.unwrap().port(), 4754);
    assert_eq!(
        proxy.tun_mtu_bytes(),
        1500 - 20 - 8 - 8,
        "what the larger header leaves, with a number in it"
    );
    assert_eq!(proxy.prism, prismux_prism::ProxyConfig::default());
    let member = member(MEMBER).unwrap();
    assert_eq!(member.tunnel.proxy.transport, Transport::Udp);
    assert_eq!(member.tunnel.keep_alive, Duration::from_secs(25));
}

#[test]
fn the_prism_table_selects_a_profile_and_deviations() {
    let text =
        format!("{PROXY}\n[prism]\nprofile = \"paper\"\nscheduler = \"nip-only\"\nlink_dupthresh = 3\n");
    let prism = proxy(&text).unwrap().prism;
    assert_eq!((prism.scheduler, prism.rpc), (SchedulerKind::NipOnly, RpcMode::Full));
    assert_eq!(prism.link_dupthresh, 3);
    assert!(!prism.learn_rates, "as published");
}

#[test]
fn static_members_need_their_transport() {
    let listed = "\n[[members]]\nname = \"router\"\npeer = \"gre:198.51.100.7\"\nrate = \"8 Mbit/s\"\n";
    let config = proxy(&format!("{PROXY}{listed}")).unwrap();
    assert_eq!(config.members[0].peer, Peer::gre([198, 51, 100, 7]));
    assert_eq!(config.members[0].rate, Some(Rate::from_mbps(8)));
    let without_gre = PROXY.replace("gre = ", "# gre = ");
    let error = proxy(&format!("{without_gre}{listed}")).unwrap_err();
    assert!(error.contains("needs tunnel.gre"), "{error}");
}

/// Every mistake names file and line, what was found, and what was expected.
#[test]
fn mistakes_are_explained_where_they_are() {
    let cases = [
        (
            PROXY.replace("path_mtu = 1500", "path_mtu = 1500\nspeed = 3"),
            ["speed", "unknown field", "path_mtu"],
        ),
        (
            format!("{PROXY}\n[prism]\nparking = false\n"),
            ["`parking`", "called `standby` now", "parking = false"],
        ),
        (PROXY.replace("path_mtu = 1500", "path_mtu = 15"), ["path_mtu", "15", "1400"]),
        (PROXY.replace("\"3 s\"", "\"3 parsecs\""), ["3 parsecs", "500 ms", "dead_after"]),
        (PROXY.replace("receivers = [", "receivers = [\"10.0.0.0/40\", "), ["10.0.0.0/40", "10.0.0.0/8", ""]),
        (PROXY.replace("0.0.0.0:4754", "0.0.0.0"), ["socket address", "udp", ""]),
        (PROXY.replace("token = \"", "token = \"short\" # "), ["token", "16 bytes", "urandom"]),
    ];
    for (text, expected) in cases {
        let error = proxy(&text).unwrap_err();
        let line =
            error.strip_prefix("proxy.toml:").and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
        let at_fault = text.lines().nth(line.unwrap_or(usize::MAX) - 1).unwrap_or_default();
        for part in expected {
            assert!(
                error.contains(part) || at_fault.contains(part),
                "no {part:?} in {error:?} or {at_fault:?}"
            );
        }
    }
}

#[test]
fn a_member_without_token_or_with_a_bad_name_is_refused() {
    let error = member(&MEMBER.replace("token = ", "# token = ")).unwrap_err();
    assert!(error.contains("token_file"), "{error}");
    let error = member(&MEMBER.replace("name = \"", "name = \"a b ")).unwrap_err();
    assert!(error.contains("a b ") && error.contains("letters"), "{error}");
    let error = member(&MEMBER.replace("udp:", "tcp:")).unwrap_err();
    assert!(error.contains("gre:192.0.2.1"), "{error}");
    let error = MemberConfig::load(Path::new("no-such-file.toml")).unwrap_err().to_string();
    assert!(error.starts_with("no-such-file.toml: cannot be read"), "{error}");
}

#[test]
fn the_token_of_the_examples_is_refused() {
    let proxy = parse::<ProxyConfig>(Path::new("proxy.toml"), PROXY).unwrap_err().to_string();
    let member = parse::<MemberConfig>(Path::new("member.toml"), MEMBER).unwrap_err().to_string();
    for (error, place) in [(proxy, "proxy.toml:10:1: token:"), (member, "member.toml:10:1: token:")] {
        assert!(error.starts_with(place), "{error}");
        assert!(error.contains("placeholder") && error.contains("urandom"), "{error}");
    }
}

#[test]
fn every_address_is_no_receiver() {
    for all in ["0.0.0.0/0", "::/0"] {
        let text = |example: &str| example.replace("receivers = [", &format!("receivers = [\"{all}\", "));
        for error in [proxy(&text(PROXY)).unwrap_err(), member(&text(MEMBER)).unwrap_err()] {
            assert!(
                error.contains("receivers: ") && error.contains(all) && error.contains("10.77.0.2"),
                "{error}"
            );
        }
    }
}
