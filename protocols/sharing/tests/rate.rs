//! A rate limit, whatever is sent and however late timers are.
use prismux_properties::cases;
use prismux_sharing::Shaper;
use prismux_units::{Duration, Instant, Rate};
use proptest::prelude::*;

const BURST: Duration = Duration::from_millis(2);

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

#[test]
fn packets_leave_at_the_rate_and_those_that_find_no_room_are_given_back() {
    let mut shaper = Shaper::new(Rate::from_mbps(12));
    let taken = (0..200).filter(|&number| shaper.push(1500, number).is_ok()).count();
    assert_eq!(taken, 100, "a tenth of a second");
    assert_eq!(shaper.push(1500, 777), Err(777));
    let mut left = Vec::new();
    for millisecond in 10..=60 {
        left.extend(std::iter::from_fn(|| shaper.poll(at(1000 * millisecond))));
    }
    assert_eq!(
        left,
        (0..53).collect::<Vec<_>>(),
        "one in a millisecond, and what two milliseconds had saved up"
    );
    assert!(shaper.deadline() > Some(at(60_000)));
    assert_eq!(Shaper::<()>::new(Rate::from_kbps(1)).deadline(), None);
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn no_stretch_of_time_gets_more_than_the_rate_a_burst_and_a_packet(
        steps in prop::collection::vec((0..3000_u64, 0..5_usize, 40..1500_u64), 1..300),
        kbps in 100..100_000_u64,
    ) {
        let rate = Rate::from_kbps(kbps);
        let mut shaper = Shaper::new(rate);
        let (mut now, mut number, mut sent) = (Instant::ZERO, 0_u32, Vec::<(Instant, u64)>::new());
        let mut expected = std::collections::VecDeque::new();
        for (pause_micros, count, bytes) in steps {
            now += Duration::from_micros(pause_micros);
            for _ in 0..count {
                if shaper.push(bytes, (number, bytes)).is_ok() {
                    expected.push_back(number);
                }
                number += 1;
            }
            while let Some((number, bytes)) = shaper.poll(now) {
                prop_assert_eq!(expected.pop_front(), Some(number), "in order, none left out");
                sent.push((now, bytes));
            }
            prop_assert_eq!(shaper.deadline().is_some(), !expected.is_empty());
        }
        for (first, &(from, _)) in sent.iter().enumerate() {
            let mut bytes = 0;
            for &(to, size) in &sent[first..] {
                let allowed = rate.bytes_in(to.saturating_since(from) + BURST).as_u64() + 1500 + 1;
                prop_assert!(bytes <= allowed, "{bytes} of {allowed}");
                bytes += size;
            }
        }
    }
}
