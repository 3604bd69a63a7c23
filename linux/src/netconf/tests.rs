use super::{Prefix, ip};

fn prefix(text: &str) -> Prefix {
    text.parse().unwrap()
}

#[test]
fn a_prefix_contains_what_shares_its_bits() {
    assert!(prefix("10.0.0.0/8").contains([10, 255, 0, 1].into()));
    assert!(!prefix("10.0.0.0/8").contains([11, 0, 0, 1].into()));
    assert!(prefix("0.0.0.0/0").contains([192, 0, 2, 1].into()));
    assert!(!prefix("0.0.0.0/0").contains("::1".parse().unwrap()));
    assert!(prefix("10.0.0.2").contains([10, 0, 0, 2].into()));
    assert!(!prefix("10.0.0.2").contains([10, 0, 0, 3].into()));
    assert!(prefix("fd77::/64").contains("fd77::1234".parse().unwrap()));
    assert!(!prefix("fd77::/64").contains("fd77:0:0:1::".parse().unwrap()));
}

#[test]
fn a_prefix_reads_and_prints_the_same_text() {
    assert_eq!(prefix("10.0.0.0/8").to_string(), "10.0.0.0/8");
    assert_eq!(prefix("fd77::2").to_string(), "fd77::2/128");
    for wrong in ["", "10.0.0.0/33", "10.0.0/8", "fd77::/129", "10.0.0.0/-1", "host/8"] {
        let error = wrong.parse::<Prefix>().unwrap_err();
        assert!(error.contains("10.0.0.0/8"), "{error}");
    }
}

#[test]
fn a_failing_command_is_quoted_with_its_answer() {
    let error = ip("link show dev no-such-device0").unwrap_err().to_string();
    assert!(error.contains("ip link show dev no-such-device0"), "{error}");
    assert!(error.contains("does not exist") || error.contains("install iproute2"), "{error}");
}
