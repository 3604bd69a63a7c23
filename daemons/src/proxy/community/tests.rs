use super::*;
use crate::config::{SealedPeer, TunnelListeners};
use crate::tunnel::control::{Hello, Tier};
use prismux_prism::ProxyConfig as Settings;
use prismux_sealed::{Entropy, KeyPair};
use prismux_units::Duration;

fn peer(number: u8, home: Option<&str>, receivers: &[&str]) -> SealedPeer {
    let public_key = KeyPair::generate(&mut Entropy::from_seed([number; 32])).public();
    let receivers = receivers.iter().map(|prefix| prefix.parse().unwrap()).collect();
    SealedPeer { name: format!("p{number}"), public_key, receivers, home: home.map(str::to_owned) }
}

fn communities(receivers: &[&str], peers: Vec<SealedPeer>) -> Communities {
    let receivers = receivers.iter().map(|prefix| prefix.parse().unwrap()).collect();
    let config = ProxyConfig { peers, ..ProxyConfig::new(receivers, "", TunnelListeners::default()) };
    let make = |home: Option<&str>| {
        let members = Members::new(1, Duration::from_secs(3));
        let links = Links::new(home.map(str::to_owned), members, None);
        Ok::<_, ()>(Community::new(Striping::new(Settings::default(), 1432), links))
    };
    Communities::new(&config, make).unwrap()
}

#[test]
fn each_home_has_links_of_its_own_found_by_its_address_and_by_its_keys() {
    let peers = vec![
        peer(0, Some("house"), &["10.77.0.2", "fd77::2"]),
        peer(1, Some("house"), &["10.77.0.2", "fd77::2"]),
        peer(2, Some("flat"), &["10.77.0.3"]),
    ];
    let all = communities(&["10.77.0.2", "fd77::2", "10.77.0.3"], peers);
    assert_eq!(
        all.iter().map(|one| one.links.home.as_deref()).collect::<Vec<_>>(),
        [Some("house"), Some("flat")]
    );
    let of = |address: &str| all.of_receiver(address.parse().unwrap());
    assert_eq!(
        [of("10.77.0.2"), of("fd77::2"), of("10.77.0.3"), of("10.77.0.4")],
        [Some(0), Some(0), Some(1), None]
    );
    let address = "192.0.2.7:1".parse().unwrap();
    assert_eq!([0, 1, 2].map(|number| all.of_peer(Peer::sealed(address, number))), [0, 0, 1]);
}

#[test]
fn members_of_their_own_are_one_community_for_all_receivers() {
    for peers in [vec![], vec![peer(0, None, &[]), peer(1, None, &["10.77.0.9"])]] {
        let all = communities(&["10.77.0.0/24"], peers);
        assert_eq!(all.iter().count(), 1);
        assert_eq!(all.of_receiver("10.77.0.9".parse().unwrap()), Some(0));
        assert_eq!(all.of_peer(Peer::gre([192, 0, 2, 1])), 0);
    }
}

#[test]
fn only_what_is_touched_is_asked_anew_when_something_is_due() {
    let mut all = communities(&["10.77.0.2"], vec![]);
    assert_eq!((all.touched(), all.deadline()), (vec![0], None));
    assert!(all.touched().is_empty());
    let hello = Hello {
        session: 1,
        counter: 1,
        next_within: Duration::from_secs(1),
        rate: None,
        tier: Tier::Primary,
        limit: None,
        name: "m1".to_owned(),
    };
    let now = Instant::from_secs(5);
    all.get_mut(0).unwrap().links.members.hello(now, Peer::gre([192, 0, 2, 1]), &hello);
    assert_eq!(all.touched(), [0]);
    let missed_at = now + Duration::from_secs(5);
    assert_eq!(all.deadline(), Some(missed_at));
    assert!(all.touched().is_empty());
    assert_eq!((all.due(now), all.due(missed_at)), (vec![], vec![0]));
}
