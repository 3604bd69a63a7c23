use super::{MemberConfig, ProxyConfig, make_private_key, parse};
use crate::tunnel::{Peer, Transport};
use prismux_prism::{RpcMode, SchedulerKind};
use prismux_units::{Duration, Rate};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const PROXY: &str = include_str!("../../examples/proxy.toml");
const MEMBER: &str = include_str!("../../examples/member.toml");

/// Alice's public key of RFC 7748 section 6.1.
const PUBLIC_KEY: &str = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";

/// A private key's file, made once for all tests of this process.
fn key_file() -> String {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let file = std::env::temp_dir().join(format!("prismux-config-{}.key", std::process::id()));
        let _ = std::fs::remove_file(&file);
        make_private_key(&file).unwrap();
        file
    };
    MADE.get_or_init(make).display().to_string()
}

/// Keys of somebody's own in place of the examples'.
fn with_keys(text: &str) -> String {
    let text = text.replace("/etc/prismux/key\"", &format!("{}\"", key_file()));
    let [proxy, member] = ["proxy", "member"].map(|who| format!("paste-the-public-key-of-the-{who}-here"));
    text.replace(&proxy, PUBLIC_KEY).replace(&member, PUBLIC_KEY)
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
    let open = std::env::temp_dir().join(format!("prismux-open-{}.key", std::process::id()));
    std::fs::copy(key_file(), &open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    let shown = open.display().to_string();
    let key = proxy(&PROXY.replace("/etc/prismux/key\"", &format!("{shown}\""))).unwrap_err();
    let token =
        plain_proxy(TOKEN).replace(&format!("token = \"{TOKEN}\""), &format!("token_file = \"{shown}\""));
    for error in [key, proxy(&token).unwrap_err()] {
        assert!(error.contains("644") && error.contains(&format!("chmod 600 {shown}")), "{error}");
    }
    std::fs::remove_file(open).unwrap();
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
