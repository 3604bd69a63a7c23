use crate::engine::delivery::Delivery;
use crate::engine::scoreboard::{Scoreboard, Segment, SegmentState};
use prismux_units::Instant;
use proptest::prelude::*;

/// `count` segments of 10 units from 0, sent at instants 0, 1, 2, ...
fn board(count: u64) -> Scoreboard {
    let mut board = Scoreboard::new();
    for number in 0..count {
        board.push(number * 10, 10, Instant::from_nanos(number));
    }
    board
}

fn states(board: &Scoreboard) -> alloc::string::String {
    (0..board.segments())
        .map(|offset| match board.get(board.index_at(offset)).state {
            SegmentState::InFlight => '.',
            SegmentState::Lost => 'L',
            SegmentState::Sacked => 's',
        })
        .collect()
}

#[test]
fn a_segment_record_has_32_bytes() {
    assert_eq!(size_of::<Segment>(), 32);
}

#[test]
fn selective_and_cumulative_acknowledgements_move_segments_between_the_states() {
    let mut b = board(10);
    let mut d = Delivery::default();
    b.sack(20..40, &mut d);
    b.sack(60..80, &mut d);
    assert_eq!((states(&b).as_str(), d.bytes), ("..ss..ss..", 40));
    assert!(b.judge(3, false, u64::MAX));
    assert_eq!(states(&b), "LLss..ss..", "three sacked segments above 0 and 1 only");
    b.audit(0, 100).unwrap();
    b.acknowledge(35, &mut d);
    assert_eq!(states(&b), "s..ss..", "30 to 35 of a sacked segment are trimmed");
    b.audit(35, 100).unwrap();
}

#[test]
fn a_range_that_covers_a_segment_in_part_does_not_acknowledge_it() {
    let mut b = board(4);
    b.sack(5..29, &mut Delivery::default());
    assert_eq!(states(&b), ".s..");
}

#[test]
fn fack_judges_by_the_distance_to_the_highest() {
    let mut b = board(10);
    b.sack(60..70, &mut Delivery::default());
    assert!(b.judge(3, true, u64::MAX));
    assert_eq!(states(&b), "LLLL..s...");
}

#[test]
fn splitting_keeps_states_and_sums() {
    let mut b = board(6);
    b.sack(20..40, &mut Delivery::default());
    b.mark_lost(b.find(0).unwrap());
    b.split(4);
    b.audit(0, 60).unwrap();
    assert_eq!(states(&b), "LLL...ssssss......");
    b.sack(40..50, &mut Delivery::default());
    b.audit(0, 60).unwrap();
}

#[derive(Debug, Clone)]
enum Step {
    Push,
    Acknowledge(u64),
    Sack(u64, u64),
    Lose(u64),
    Resend,
    Judge(u32, bool),
    LoseAll(bool),
    UnmarkAll,
    Split(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Push),
        2 => (0u64..80).prop_map(Step::Acknowledge),
        4 => (0u64..400, 0u64..60).prop_map(|(start, length)| Step::Sack(start, length)),
        1 => (0u64..400).prop_map(Step::Lose),
        2 => Just(Step::Resend),
        2 => (1u32..5, any::<bool>()).prop_map(|(threshold, fack)| Step::Judge(threshold, fack)),
        1 => any::<bool>().prop_map(Step::LoseAll),
        1 => Just(Step::UnmarkAll),
        1 => (3u32..10).prop_map(Step::Split),
    ]
}

proptest! {
    #[test]
    fn sums_lists_and_runs_agree_with_the_segments_after_any_steps(steps in prop::collection::vec(step(), 1..200)) {
        let mut b = Scoreboard::new();
        let (mut acked, mut next, mut now) = (0u64, 0u64, 0u64);
        for step in steps {
            let mut d = Delivery::default();
            now += 1;
            match step {
                Step::Push => {
                    b.push(next, 10, Instant::from_nanos(now));
                    next += 10;
                }
                Step::Acknowledge(more) => {
                    acked = (acked + more).min(next);
                    b.acknowledge(acked, &mut d);
                }
                Step::Sack(start, length) => b.sack(acked + start..(acked + start + length).min(next), &mut d),
                Step::Lose(at) => {
                    if let Some(index) = b.find(acked + at) {
                        b.mark_lost(index);
                    }
                }
                Step::Resend => {
                    if let Some(index) = b.first_lost() {
                        b.retransmit(index, Instant::from_nanos(now));
                    }
                }
                Step::Judge(threshold, fack) => {
                    b.judge(threshold, fack, u64::MAX);
                }
                Step::LoseAll(forget) => b.mark_all_lost(forget),
                Step::UnmarkAll => b.unmark_all_lost(),
                Step::Split(mss) => b.split(mss),
            }
            prop_assert_eq!(b.audit(acked, next), Ok(()));
        }
    }
}
