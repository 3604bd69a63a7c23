use super::*;

#[test]
fn a_cookie_is_honoured_for_its_client_at_its_address_and_for_a_while() {
    let jar = CookieJar::new([1; 32]);
    let (home, client, now) = ("192.0.2.1:4000".parse().unwrap(), ConnectionId(7), Instant::from_secs(100));
    let cookie = jar.give(now, home, client);
    let later = |secs| now + Duration::from_secs(secs);
    assert!(jar.honours(now, home, client, &cookie) && jar.honours(later(30), home, client, &cookie));
    assert!(!jar.honours(later(31), home, client, &cookie), "too old");
    assert!(!jar.honours(Instant::from_secs(99), home, client, &cookie), "from the future");
    for elsewhere in ["192.0.2.2:4000", "192.0.2.1:4001", "[2001:db8::1]:4000"] {
        assert!(!jar.honours(now, elsewhere.parse().unwrap(), client, &cookie), "{elsewhere}");
    }
    assert!(!jar.honours(now, home, ConnectionId(8), &cookie), "another client");
    assert!(!CookieJar::new([2; 32]).honours(now, home, client, &cookie), "another server");
    for index in 0..COOKIE_BYTES {
        let mut forged = cookie;
        forged[index] ^= 1;
        assert!(!jar.honours(later(1), home, client, &forged), "byte {index}");
    }
}

#[test]
fn an_ipv4_address_is_the_same_through_an_ipv6_socket() {
    let jar = CookieJar::new([1; 32]);
    let (plain, mapped) = ("192.0.2.1:4000".parse().unwrap(), "[::ffff:192.0.2.1]:4000".parse().unwrap());
    let cookie = jar.give(Instant::from_secs(1), plain, ConnectionId(1));
    assert!(jar.honours(Instant::from_secs(1), mapped, ConnectionId(1), &cookie));
}
