use super::*;
use crate::config::LinkConfig;
use prismux_receipts::LinkEstimate;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

#[test]
fn a_link_that_does_more_harm_than_it_carries_rests_longer_each_time() {
    let mut link = Link::new(at(0), LinkConfig::default());
    link.model.learn();
    link.model.on_estimate(at(0), &LinkEstimate::default(), 36);
    assert!(!link.weigh(at(500)), "nothing has happened");
    link.on_harm(1e6);
    assert!(!link.weigh(at(1000)), "once may be a sender that starts");
    link.on_harm(1e6);
    assert!(link.weigh(at(1500)));
    assert!(link.rests(at(3499)) && !link.rests(at(3500)), "two seconds");
    for ms in [4000, 4500] {
        link.on_harm(1e6);
        link.weigh(at(ms));
    }
    assert!(link.rests(at(8499)) && !link.rests(at(8500)), "four seconds");
}
