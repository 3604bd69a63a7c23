//! What daemons tell when something is wrong: on their status pages, as in their logs.
use crate::network::{Network, SENDER};
use crate::process::wait_for;
use crate::transfer::{Direction, Transfer};
use prismux_trace::event::Event;
use prismux_trace::pcapng;

/// The proxy names who was refused, and the member says how long nobody has answered.
pub fn wrong_token() {
    let network = Network::new("wrong-token");
    let proxy = network.start_proxy();
    let member = network.start_member_as(1, "udp", "m1", "another token than the proxy's");
    wait_for("the proxy tells", || !proxy.events("registration_refused").is_empty());
    let refused = &proxy.events("registration_refused")[0];
    assert!(refused.contains("\"reason\":\"bad_token\"") && refused.contains("udp:10.2.1.2:"), "{refused}");
    wait_for("the member tells", || !member.events("registration_changed").is_empty());
    let told = &member.events("registration_changed")[0];
    assert!(told.contains("\"registered\":false") && told.contains("the token the same"), "{told}");
    assert!(proxy.number("/drops/bad_token") > 1, "each hello is counted");
    assert_eq!(proxy.events("registration_refused").len(), 1, "and one told");
}

/// A copied configuration: two boxes take each other's seat.
pub fn one_name_twice() {
    let network = Network::new("one-name");
    let proxy = network.start_proxy();
    let first = network.start_member_as(1, "udp", "m1", crate::network::TOKEN);
    wait_for("it registers", || first.is_registered());
    let _second = network.start_member_as(2, "udp", "m1", crate::network::TOKEN);
    let contested = |told: &String| told.contains("have two members the same name");
    wait_for("the proxy suspects it", || proxy.events("peer_moved").iter().any(contested));
    let other = |told: &String| told.contains("another member of this name");
    wait_for("and a member too", || first.events("registration_changed").iter().any(other));
    assert!(proxy.events("member_joined").len() == 1, "one link");
}

/// A recording tells what the status page told, and replays to the same decisions.
pub fn recorded() {
    let network = Network::new("recorded");
    let file = network.directory.join("proxy.pcapng");
    let proxy = network.start_proxy_recording(&file);
    let member = network.start_member(1, "gre");
    wait_for("it registers", || member.is_registered());
    Transfer::start(&network, SENDER, Direction::Download, 300_000, None).finish(300_000);
    member.stop();
    wait_for("it leaves", || !proxy.events("member_left").is_empty());
    proxy.stop();
    let bytes = std::fs::read(&file).unwrap();
    let capture = pcapng::read(&bytes).unwrap();
    let events: Vec<Event<'static>> = capture
        .packets
        .iter()
        .filter(|packet| capture.interfaces[packet.interface].name == "events")
        .map(|packet| serde_json::from_str(&packet.comment).expect("an event"))
        .collect();
    assert!(
        matches!(&events[0], Event::MemberJoined { member, peer: Some(_) } if member == "m1"),
        "{events:?}"
    );
    // A packet that nobody acknowledged may be given up after it.
    let leaves = |event: &Event<'_>| matches!(event, Event::MemberLeft { member, .. } if member == "m1");
    assert!(events.iter().any(leaves), "{events:?}");
    let replay = prismux_daemons::replay::replay(&bytes).unwrap();
    assert!(replay.decisions() > 100 && replay.differences.is_empty(), "{replay:?}");
}
