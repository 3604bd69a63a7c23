use super::*;

fn prefix(address: &str) -> Prefix {
    Prefix::of(SocketAddr::new(address.parse().expect("an address"), 5000))
}

#[test]
fn a_host_has_one_ipv4_address_or_one_ipv6_network() {
    assert_ne!(prefix("192.0.2.1"), prefix("192.0.2.2"));
    assert_eq!(prefix("192.0.2.1"), prefix("::ffff:192.0.2.1"));
    assert_eq!(prefix("2001:db8::1"), prefix("2001:db8::ffff:0:0:1"));
    assert_ne!(prefix("2001:db8::1"), prefix("2001:db8:0:1::1"));
}

#[test]
fn handshakes_come_in_a_burst_and_then_at_the_rate_and_others_have_their_own() {
    let (mut limits, now) = (HandshakeLimits::default(), Instant::from_secs(100));
    let granted = |limits: &mut HandshakeLimits, now| {
        (0..10_000).filter(|_| limits.take(now, prefix("192.0.2.1"))).count()
    };
    assert_eq!(granted(&mut limits, now), 1000);
    assert_eq!(granted(&mut limits, now + Duration::from_secs(1)), 200);
    assert!(limits.take(now, prefix("192.0.2.2")));
}

#[test]
fn what_is_remembered_is_bounded() {
    let (mut limits, now) = (HandshakeLimits::default(), Instant::from_secs(100));
    for host in 0..2 * MAX_PREFIXES as u128 {
        limits.take(now, Prefix(host));
    }
    assert_eq!(limits.paid_until.len(), MAX_PREFIXES);
    assert!(!limits.take(now, prefix("192.0.2.1")), "while all are busy");
    assert!(limits.take(now + Duration::from_secs(1), prefix("192.0.2.1")), "and not afterwards");
}
