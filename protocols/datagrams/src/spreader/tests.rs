use super::*;

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn view(rtt_ms: u64, queue_ms: u64) -> LinkView {
    LinkView {
        min_rtt: Some(Duration::from_millis(rtt_ms)),
        queueing_delay: Duration::from_millis(queue_ms),
        rate: Some(Rate::from_bps(10_000_000)),
    }
}

/// Links 0 (40 ms) and 1 (60 ms).
fn spreader() -> Spreader {
    let mut spreader = Spreader::new(0);
    for (link, rtt_ms) in [(0, 40), (1, 60)] {
        spreader.join(link, None);
        spreader.measured(at(0), link, view(rtt_ms, 0));
    }
    spreader
}

fn link(choice: Choice) -> u8 {
    let Choice::One(link, None) = choice else { panic!("{choice:?}") };
    link
}

#[test]
fn a_pinned_flow_takes_the_quickest_link_and_another_when_it_is_gone() {
    let mut spreader = spreader();
    assert_eq!(link(spreader.send(at(0), Class::Pin, 1, 1000)), 0);
    spreader.leave(0);
    assert_eq!(link(spreader.send(at(1), Class::Pin, 1, 1000)), 1);
    spreader.leave(1);
    assert_eq!(spreader.send(at(2), Class::Pin, 1, 1000), Choice::Nowhere);
    spreader.join(0, Some(Duration::from_millis(40)));
    assert_eq!(link(spreader.send(at(3), Class::Pin, 1, 1000)), 0);
}

#[test]
fn a_pinned_flow_moves_when_that_overtakes_nothing_and_gains_much() {
    let mut spreader = spreader();
    assert_eq!(link(spreader.send(at(0), Class::Pin, 1, 1000)), 0);
    // A queue of 100 ms at its link: the other one is quicker by far, and slower than what is under way on the first.
    spreader.measured(at(10), 0, view(40, 100));
    assert_eq!(link(spreader.send(at(10), Class::Pin, 1, 1000)), 1);
    // The queue is gone at once: what was sent over the slow link must arrive first.
    spreader.measured(at(11), 0, view(40, 0));
    let mut links = (11..80).map(|now| link(spreader.send(at(now), Class::Pin, 1, 100)));
    assert!(links.all(|link| link == 1), "packets every millisecond would overtake each other");
    spreader.measured(at(200), 0, view(40, 0));
    assert_eq!(link(spreader.send(at(200), Class::Pin, 1, 100)), 0, "after a pause nothing is under way");
}

#[test]
fn pinned_flows_share_links_by_what_these_carry() {
    let mut spreader = spreader();
    // Four flows of 4 Mbit/s over two links of 10: packets of 1000 bytes, one every 2 ms.
    let mut carried = [0, 0];
    for now in 0..4000 {
        for flow in 0..4_u64 {
            if (now + flow) % 2 == 0 {
                let link = link(spreader.send(at(now), Class::Pin, flow << 32, 1000));
                carried[usize::from(link)] += u64::from(now >= 1000);
            }
        }
    }
    let lesser = carried[0].min(carried[1]);
    assert!(lesser * 100 >= 35 * (carried[0] + carried[1]), "{carried:?}");
}

#[test]
fn copies_go_over_the_two_quickest_links_with_one_number() {
    let mut spreader = spreader();
    spreader.join(2, Some(Duration::from_millis(50)));
    let Choice::Both(links, first) = spreader.send(at(0), Class::Duplicate, 7, 100) else {
        panic!("no copy")
    };
    assert_eq!((links, first.waits, first.stream), ([0, 2], false, 7));
    let Choice::Both(_, second) = spreader.send(at(1), Class::Duplicate, 7, 100) else { panic!("no copy") };
    assert_eq!(second.number, first.number + 1);
    spreader.leave(0);
    spreader.leave(1);
    assert!(matches!(spreader.send(at(2), Class::Duplicate, 7, 100), Choice::One(2, Some(_))));
}

#[test]
fn a_link_that_was_never_measured_is_tried() {
    let mut spreader = Spreader::new(0);
    spreader.join(0, Some(Duration::from_millis(40)));
    spreader.join(1, None);
    spreader.measured(at(0), 0, view(40, 1));
    assert!(matches!(spreader.send(at(0), Class::Resequence, 0, 1000), Choice::One(1, _)));
}
