//! Books of a flow that has link state of its own.
use super::FlowVariables;
use crate::config::{LinkConfig, ProxyConfig};
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use prismux_units::Instant;
use prismux_wire::SeqNumber;

const NOW: Instant = Instant::ZERO;
const ONE: LinkId = LinkId(0);
const TWO: LinkId = LinkId(1);

/// Does something in a flow's view.
fn within(links: &mut LinkTable, own: &mut FlowVariables, act: impl FnOnce(&mut LinkTable)) {
    links.exchange(own);
    act(links);
    links.exchange(own);
}

#[test]
fn bytes_in_flight_are_the_flows_own_and_follow_a_member_that_leaves() {
    let config = ProxyConfig::paper();
    let (mut links, mut first, mut second) = Default::default();
    for link in [ONE, TWO] {
        LinkTable::join(&mut links, NOW, link, LinkConfig::default(), &config);
    }
    within(&mut links, &mut first, |links| {
        links.send(NOW, ONE, 1000, (0, SeqNumber(0)));
        links.send(NOW, TWO, 500, (0, SeqNumber(1000)));
    });
    assert_eq!(links.in_flight_bytes(), 0, "of no flow");
    within(&mut links, &mut second, |links| {
        assert_eq!(links.in_flight_bytes(), 0, "of the first flow alone");
        links.send(NOW, TWO, 700, (1, SeqNumber(0)));
    });
    assert!(links.leave(NOW, TWO, &config));
    for own in [&mut first, &mut second] {
        links.tell(own, None, &config);
    }
    within(&mut links, &mut first, |links| assert_eq!(links.in_flight_bytes(), 1000));
    within(&mut links, &mut second, |links| {
        assert_eq!(links.in_flight_bytes(), 0, "what is left is on a link that has gone");
        links.settle(TWO, 700);
        assert_eq!(links.in_flight_bytes(), 0);
    });
    within(&mut links, &mut first, |links| {
        links.settle(ONE, 1000);
        assert_eq!(links.in_flight_bytes(), 0);
    });
}
