use super::file::parse;
use super::{
    GatewayConfig, HomeConfig, MemberConfig, ProxyConfig, Role, accounts_file, make_private_key,
    prism_settings_from_toml, prism_settings_to_toml,
};
use crate::tunnel::{Peer, Transport};
use crate::unnamed::unnamed;
use prismux_prism::{LinkStateKept, RpcMode, SchedulerKind};
use prismux_sharing::ResetDay;
use prismux_units::{ByteCount, Duration, Rate};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const PROXY: &str = include_str!("../../examples/proxy.toml");
const MEMBER: &str = include_str!("../../examples/member.toml");
const HOME: &str = include_str!("../../examples/home.toml");
const GATEWAY: &str = include_str!("../../examples/gateway.toml");

/// Alice's public key of RFC 7748 section 6.1.
const PUBLIC_KEY: &str = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";

/// A private key's file, made once for all tests of this process.
fn key_file() -> String {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = |file: &Path| {
        make_private_key(file).unwrap();
    };
    MADE.get_or_init(|| unnamed(make)).display().to_string()
}

/// Keys of somebody's own in place of the examples'.
fn with_keys(text: &str) -> String {
    let text = text.replace("/etc/prismux/key\"", &format!("{}\"", key_file()));
    let text = text.replace("/etc/prismux/home.key\"", &format!("{}\"", key_file()));
    let text = text.replace("paste-the-public-keys-of-the-home-here", PUBLIC_KEY);
    ["proxy", "member", "gateway"]
        .iter()
        .fold(text, |text, who| text.replace(&format!("paste-the-public-key-of-the-{who}-here"), PUBLIC_KEY))
}

/// The example with plain tunnels in place of sealed ones, and a token.
fn plain_proxy(token: &str) -> String {
    let (before, _) = PROXY.split_once("[[peers]]").unwrap();
    let text = before
        .replace("private_key_file =", &format!("token = \"{token}\" #"))
        .replace("sealed =", "# sealed =")
        .replace("# gre =", "gre =")
        .replace("# udp =", "udp =");
    let (_, rest) = PROXY.split_once("# receivers = [\"10.77.0.2/32\"]").unwrap();
    format!("{text}{rest}")
}

/// The same for a member.
fn plain_member(token: &str) -> String {
    let key = format!("token = \"{token}\" #");
    MEMBER
        .replace("private_key_file =", &key)
        .replace("sealed:192.0.2.1:51820", "udp:192.0.2.1:4754")
        .replace("proxy_public_key =", "# proxy_public_key =")
}

const TOKEN: &str = "a-token-that-nobody-else-has";

fn proxy(text: &str) -> Result<ProxyConfig, String> {
    parse(Path::new("proxy.toml"), &with_keys(text)).map_err(|error| error.to_string())
}

fn member(text: &str) -> Result<MemberConfig, String> {
    parse(Path::new("member.toml"), &with_keys(text)).map_err(|error| error.to_string())
}

/// The example with its commented section of neighbours, `from` in it replaced by `to`.
fn with_neighbours(from: &str, to: &str) -> String {
    let lines = ["[neighbours]", "local =", "members =", "token_file =", "device ="];
    let text = lines.iter().fold(plain_member(TOKEN), |text, line| text.replace(&format!("# {line}"), line));
    text.replace("token_file = \"/etc/prismux/neighbours\"\n", "").replace(from, to)
}

#[test]
fn neighbours_are_read_and_mistakes_in_them_named() {
    let neighbours = member(&with_neighbours("", "")).unwrap().neighbours.unwrap();
    assert_eq!(neighbours.local, "192.168.7.2:4755".parse().unwrap());
    assert_eq!(neighbours.members, ["192.168.7.3:4755".parse().unwrap()]);
    assert_eq!(neighbours.device.as_deref(), Some("wlan0"));
    for (from, to, expected) in [
        ("192.168.7.2:4755", "0.0.0.0:4755", "this member's address and port in its LAN"),
        ("192.168.7.3:4755", "[fd00::3]:4755", "of the same family as local"),
        ("192.168.7.3:4755", "192.168.7.2:4755", "another member"),
        ("[\"192.168.7.3:4755\"]", "[]", "expected 1 to 16 of them"),
        ("192.168.7.3:4755", "kitchen", "invalid socket address"),
    ] {
        let error = member(&with_neighbours(from, to)).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("member.toml:"), "{to}: {error}");
    }
    let sealed = with_neighbours("udp:192.0.2.1:4754", "sealed:192.0.2.1:51820")
        .replace("token = ", &format!("private_key_file = {:?} #", key_file()))
        .replace(
            "# proxy_public_key = \"paste-the-public-key-of-the-proxy-here\"",
            &format!("proxy_public_key = {PUBLIC_KEY:?}"),
        );
    let error = member(&sealed).unwrap_err().to_string();
    assert!(error.contains("a secret that all neighbours share"), "{error}");
}

#[test]
fn the_shipped_examples_are_valid() {
    let proxy = proxy(PROXY).unwrap();
    assert_eq!(proxy.tunnel.sealed.unwrap().port(), 51820);
    assert_eq!((proxy.tunnel.gre, proxy.tunnel.udp), (None, None), "off unless asked for");
    assert_eq!(
        proxy.tun_mtu_bytes(),
        1500 - 20 - 8 - 32 - 8,
        "what the headers and the seal leave, with a number inside"
    );
    assert_eq!(proxy.prism, prismux_prism::ProxyConfig::default());
    let member = member(MEMBER).unwrap();
    assert_eq!(member.tunnel.proxy.transport, Transport::Sealed);
    assert_eq!(member.tunnel.keep_alive, Duration::from_secs(25));
}

#[test]
fn the_prism_table_selects_a_profile_and_deviations() {
    let table = "profile = \"paper\"\nscheduler = \"nip-only\"\nlink_dupthresh = 3\nlink_state = \"flow\"\n";
    let prism = proxy(&format!("{PROXY}\n[prism]\n{table}")).unwrap().prism;
    assert_eq!((prism.scheduler, prism.rpc), (SchedulerKind::NipOnly, RpcMode::Full));
    assert_eq!(prism.link_dupthresh, 3);
    assert_eq!(prism.link_state, LinkStateKept::Flow);
    assert!(!prism.learn_rates, "as published");
    let written = prism_settings_to_toml(&prism).unwrap().to_string();
    assert_eq!(prism_settings_from_toml(&written).unwrap().link_state, LinkStateKept::Flow, "{written}");
}

#[test]
fn static_members_need_their_transport() {
    let listed = "\n[[members]]\nname = \"router\"\npeer = \"gre:198.51.100.7\"\nrate = \"8 Mbit/s\"\n";
    let plain = plain_proxy(TOKEN);
    let config = proxy(&format!("{plain}{listed}")).unwrap();
    assert_eq!(config.tun_mtu_bytes(), 1500 - 20 - 8 - 8, "what the larger header leaves");
    assert_eq!(config.members[0].peer, Peer::gre([198, 51, 100, 7]));
    assert_eq!(config.members[0].rate, Some(Rate::from_mbps(8)));
    let without_gre = plain.replace("gre = ", "# gre = ");
    let error = proxy(&format!("{without_gre}{listed}")).unwrap_err();
    assert!(error.contains("needs tunnel.gre"), "{error}");
}

/// Every mistake names file and line, what was found, and what was expected.
#[test]
fn mistakes_are_explained_where_they_are() {
    let another_peer = format!("[[peers]]\nname = \"other\"\npublic_key = \"{PUBLIC_KEY}\"\n[[peers]]");
    let cases = [
        (
            PROXY.replace("path_mtu = 1500", "path_mtu = 1500\nspeed = 3"),
            ["speed", "unknown field", "path_mtu"],
        ),
        (
            format!("{PROXY}\n[prism]\nlink_state = \"flow\"\n"),
            ["link_state", "profile = \"paper\"", "learn_rates"],
        ),
        (
            format!("{PROXY}\n[prism]\nparking = false\n"),
            ["`parking`", "called `standby` now", "parking = false"],
        ),
        (PROXY.replace("path_mtu = 1500", "path_mtu = 15"), ["path_mtu", "15", "1400"]),
        (PROXY.replace("\"3 s\"", "\"3 parsecs\""), ["3 parsecs", "500 ms", "dead_after"]),
        (PROXY.replace("receivers = [", "receivers = [\"10.0.0.0/40\", "), ["10.0.0.0/40", "10.0.0.0/8", ""]),
        (PROXY.replace("0.0.0.0:51820", "0.0.0.0"), ["socket address", "sealed", ""]),
        (plain_proxy("short"), ["token", "16 bytes", "urandom"]),
        (
            PROXY.replace("private_key_file =", "# private_key_file ="),
            ["private_key_file", "prismux keygen", ""],
        ),
        (PROXY.replace("/etc/prismux/key\"", "/no/such/key\""), ["/no/such/key", "prismux keygen", ""]),
        (PROXY.replace("public_key = \"paste", "public_key = \"44"), ["no public key", "base64", "44-the"]),
        (PROXY.replace("name = \"kitchen-lte\"", "name = \"a b\""), ["a b", "letters", ""]),
        (PROXY.replace("# receivers = [\"10.77.0.2", "receivers = [\"10.78.0.2"), ["10.78.0.2", "peers", ""]),
        (PROXY.replace("[[peers]]", &another_peer), ["one key", "other", "kitchen-lte"]),
        (
            PROXY.replace("fec = false", "fec = true").replace("receipts = true", "receipts = false"),
            ["fec", "needs receipts", ""],
        ),
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
    let error = member(&plain_member(TOKEN).replace("token = ", "# token = ")).unwrap_err();
    assert!(error.contains("token_file"), "{error}");
    let error = member(&MEMBER.replace("proxy_public_key =", "# proxy_public_key =")).unwrap_err();
    assert!(error.contains("proxy_public_key") && error.contains("prismux keygen"), "{error}");
    let error = member(&MEMBER.replace("name = \"", "name = \"a b ")).unwrap_err();
    assert!(error.contains("a b ") && error.contains("letters"), "{error}");
    let error = member(&MEMBER.replace("\"sealed:", "\"tcp:")).unwrap_err();
    assert!(error.contains("gre:192.0.2.1"), "{error}");
    let error = MemberConfig::load(Path::new("no-such-file.toml")).unwrap_err().to_string();
    assert!(error.starts_with("no-such-file.toml: cannot be read"), "{error}");
}

#[test]
fn a_placeholder_is_no_secret() {
    let placeholder = "replace-me-with-24-random-bytes";
    let proxy = proxy(&plain_proxy(placeholder)).unwrap_err();
    let member = member(&plain_member(placeholder)).unwrap_err();
    for (error, place) in [(proxy, "proxy.toml:10:1: token:"), (member, "member.toml:10:1: token:")] {
        assert!(error.starts_with(place), "{error}");
        assert!(error.contains("placeholder") && error.contains("urandom"), "{error}");
    }
}

/// A private key, or a token, that others can read is none.
#[test]
fn secrets_open_to_others_are_refused() {
    let open = unnamed(|file| {
        std::fs::copy(key_file(), file).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    });
    let shown = open.display().to_string();
    let key = proxy(&PROXY.replace("/etc/prismux/key\"", &format!("{shown}\""))).unwrap_err();
    let token =
        plain_proxy(TOKEN).replace(&format!("token = \"{TOKEN}\""), &format!("token_file = \"{shown}\""));
    for error in [key, proxy(&token).unwrap_err()] {
        assert!(error.contains("644") && error.contains(&format!("chmod 600 {shown}")), "{error}");
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

/// The file of a role, from its text.
fn role(name: &str, text: &str) -> Result<Role, String> {
    let file = std::env::temp_dir().join(format!("prismux-role-{name}-{}.toml", std::process::id()));
    std::fs::write(&file, with_keys(text)).unwrap();
    let role = Role::load(&file);
    std::fs::remove_file(&file).unwrap();
    role.map_err(|error| error.to_string())
}

#[test]
fn a_file_says_what_its_host_is() {
    let Role::Home(home) = role("home", HOME).unwrap() else { panic!("no home") };
    assert_eq!(home.uplinks.len(), 2);
    assert_eq!((home.uplink_name(1).as_str(), home.uplink_table(1)), ("house-2", 4762));
    assert_eq!(
        home.tun_mtu_bytes(),
        1500 - 64 - 4,
        "what a sealed tunnel over IPv4 and a packet's number leave"
    );
    let classes = "resequence = [\"udp/443\"]\nduplicate = [\"tcp/22\", \"icmp\"]\n[gateway]";
    assert_eq!(
        accounts_file(None, &home.status_socket),
        home.accounts_file.clone().unwrap(),
        "the usual place"
    );
    let beside = accounts_file(None, Path::new("/srv/prismux/home.sock"));
    assert_eq!(beside, Path::new("/srv/prismux/home.accounts"));
    let Role::Home(lent) = role("home", &HOME.replace("# sharing", "sharing")).unwrap() else {
        panic!("no home")
    };
    let terms = lent.uplinks[1].sharing.terms();
    assert_eq!(terms.cap_per_month, Some(ByteCount::new(5_000_000_000)));
    assert_eq!(ResetDay::new(15), Some(terms.reset_day));
    let Role::Home(other) = role("home", &HOME.replace("[gateway]", classes)).unwrap() else { panic!() };
    assert_eq!(other.tun_mtu_bytes() + 4, home.tun_mtu_bytes(), "and a packet's order");
    let Role::Home(repairing) = role("home", &HOME.replace("fec = false", "fec = true")).unwrap() else {
        panic!("no home")
    };
    assert_eq!(repairing.tun_mtu_bytes() + 16, home.tun_mtu_bytes(), "and what repairs are longer");
    let keys: Vec<String> = home.read_keys().unwrap().iter().map(|keys| keys.public().to_string()).collect();
    assert!(keys[0] != keys[1], "a key for each uplink");
    let Role::Gateway(gateway) = role("gateway", GATEWAY).unwrap() else { panic!("no gateway") };
    let proxy = gateway.proxy();
    assert!(!proxy.tunnel.fec, "repairs are off unless asked for");
    assert_eq!(proxy.peers[0].name, "house-1");
    assert_eq!(proxy.peers[0].receivers, proxy.receivers, "no other addresses come from this home");
}

#[test]
fn mistakes_in_the_files_of_homes_and_gateways_have_a_place_and_a_remedy() {
    let home = |from: &str, to: &str| {
        HomeConfig::from_text(Path::new("home.toml"), &with_keys(&HOME.replacen(from, to, 1)))
            .unwrap_err()
            .to_string()
    };
    let gateway = |from: &str, to: &str| {
        let text = with_keys(&GATEWAY.replacen(from, to, 1));
        GatewayConfig::from_text(Path::new("gateway.toml"), &text).unwrap_err().to_string()
    };
    let two_homes = "[[homes]]\nname = \"b\"\naddresses = [\"10.77.0.3\"]\npublic_keys = []\n[[homes]]";
    for (error, place, expected) in [
        (home("\"wwan0\"", "\"eth0\""), "home.toml:", "eth0 is listed twice"),
        (home("device = \"eth0\"", "device = \"\""), "home.toml:", "compare with: ip link"),
        (home("\"10.77.0.2\"", ""), "home.toml:8:", "the gateway gave this home"),
        (home("path_mtu = 1500", "path_mtu = 500"), "home.toml:12:", "1400 to 9000"),
        (home("tier = \"primary\"", "tier = \"third\""), "home.toml:", "\"third\" is no tier"),
        (
            home("# sharing = { cap_per_day = \"500 MB\"", "sharing = { cap_per_day = \"0 B\""),
            "home.toml:",
            "more than nothing",
        ),
        (
            home("# sharing = { cap_per_day = \"500 MB\"", "sharing = { cap = 3"),
            "home.toml:",
            "unknown field `cap`",
        ),
        (home("# sharing", "sharing = { reset_day = 32 } #"), "home.toml:", "expected 1 to 31"),
        (home("# sharing", "sharing = { hours = [\"9-17\"] } #"), "home.toml:", "22:00-06:00"),
        (home("# sharing", "sharing = { rate_limit = \"1 kbit/s\" } #"), "home.toml:", "at least 64 kbit/s"),
        (home("# router = \"192.168.8.1\"", "router = \"fd00::1\""), "home.toml:", "the same family"),
        (home("share = true", "metrics = \"0.0.0.0:9586\""), "home.toml:10:", "a loopback address"),
        (
            home("page = \"127.0.0.1:9587\"", "page = \"0.0.0.0:9587\""),
            "home.toml:24:",
            "is open to others: give page_password_file too",
        ),
        (
            home("# page_password_file = \"/etc/prismux/", "page_password_file = \"/nowhere/"),
            "home.toml:25:",
            "page-password cannot be read",
        ),
        (home("home.key", "nowhere.key"), "home.toml:6:", "prismux keygen"),
        (
            home("endpoint = \"192.0.2.1:51820\"", "endpoint = \"here\""),
            "home.toml:39:",
            "invalid socket address",
        ),
        (gateway("name = \"house\"", "name = \"the house\""), "gateway.toml:36:", "no member's name"),
        (gateway("addresses = [\"10.77.0.2\"]", "addresses = []"), "gateway.toml:", "needs addresses"),
        (gateway("[[homes]]", two_homes), "gateway.toml:", "needs addresses and 1 to 8 public_keys"),
    ] {
        assert!(error.starts_with(place) && error.contains(expected), "{error}");
    }
    let other = role("other", "role = \"house\"\n").unwrap_err();
    assert!(other.contains(":1:1: role: \"house\" is none, expected \"home\" or \"gateway\""), "{other}");
}
