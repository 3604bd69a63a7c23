use super::*;
use alloc::collections::BTreeSet;
use prismux_endpoint::random::{RandomStream, Seed};
use proptest::prelude::*;

const ANN: NeighbourId = NeighbourId(1);
const BEN: NeighbourId = NeighbourId(2);
const ORIGIN: Source = Source::Origin;

fn config() -> PlanConfig {
    PlanConfig { from_origin: 2, listen: Duration::ZERO, ..PlanConfig::for_pieces_of(256 << 10) }
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn set(count: u32, pieces: &[u32]) -> PieceSet {
    let mut set = PieceSet::none(count);
    for &piece in pieces {
        set.insert(piece);
    }
    set
}

/// A plan that begins at piece `start`, as it is when nobody has been heard yet and nothing asked.
fn plan(count: u32, start: u64) -> Plan {
    Plan::new(at(0), count, start, config())
}

fn events(plan: &mut Plan) -> Vec<PlanEvent> {
    core::iter::from_fn(|| plan.poll_event()).collect()
}

fn ask(from: Source, piece: u32) -> PlanEvent {
    PlanEvent::Ask { from, piece }
}

fn withdraw(from: Source, piece: u32) -> PlanEvent {
    PlanEvent::Withdraw { from, piece }
}

fn of(id: NeighbourId) -> Source {
    Source::Neighbour(id)
}

fn hear(plan: &mut Plan, ms: u64, from: NeighbourId, held: &[u32], claims: &[u32]) -> Vec<PlanEvent> {
    let held = set(plan.held().count(), held);
    plan.handle_input(at(ms), PlanInput::Heard { from, held: &held, claims });
    events(plan)
}

fn arrived(plan: &mut Plan, ms: u64, from: Source, piece: u32, is_right: bool) -> Vec<PlanEvent> {
    plan.handle_input(at(ms), PlanInput::Arrived { from, piece, is_right });
    events(plan)
}

fn time(plan: &mut Plan, ms: u64) -> Vec<PlanEvent> {
    plan.handle_timeout(at(ms));
    events(plan)
}

#[test]
fn alone_a_member_takes_everything_from_the_origin_from_its_own_place_on() {
    let mut plan = plan(4, 6);
    assert_eq!(time(&mut plan, 0), [ask(ORIGIN, 2), ask(ORIGIN, 3)]);
    assert_eq!(plan.claims(), [2, 3]);
    assert_eq!(arrived(&mut plan, 10, ORIGIN, 3, true), [ask(ORIGIN, 0)]);
    assert_eq!(arrived(&mut plan, 20, ORIGIN, 2, true), [ask(ORIGIN, 1)]);
    assert_eq!(arrived(&mut plan, 30, ORIGIN, 0, true), []);
    assert_eq!(arrived(&mut plan, 40, ORIGIN, 1, true), [PlanEvent::Complete]);
    assert_eq!(arrived(&mut plan, 50, ORIGIN, 1, true), [], "it comes twice");
    assert_eq!((plan.counters().from_origin, plan.counters().unasked), (4, 1));
}

#[test]
fn at_first_one_piece_is_taken_until_neighbours_have_had_time_to_speak() {
    let config = PlanConfig { from_origin: 2, ..PlanConfig::for_pieces_of(256 << 10) };
    let mut plan = Plan::new(at(0), 8, 2, config);
    assert_eq!(time(&mut plan, 0), [ask(ORIGIN, 2)]);
    assert_eq!(plan.poll_timeout().map(|deadline| deadline.at), Some(at(100)));
    assert_eq!(hear(&mut plan, 10, ANN, &[], &[3]), []);
    // Where Ann has been it does not go on: in the longest run of what is free, it begins in the first half.
    assert_eq!(time(&mut plan, 100), [ask(ORIGIN, 4)]);
}

#[test]
fn as_many_pieces_are_under_way_from_the_origin_as_take_half_a_second() {
    let config = PlanConfig { listen: Duration::ZERO, ..PlanConfig::for_pieces_of(256 << 10) };
    for (interval_ms, wanted) in [(2000, 2), (200, 4), (10, 8)] {
        let mut plan = Plan::new(at(0), 1000, 0, config);
        time(&mut plan, 0);
        for piece in 0..30 {
            arrived(&mut plan, interval_ms * u64::from(piece + 1), ORIGIN, piece, true);
        }
        assert_eq!(plan.claims().len(), wanted, "{interval_ms}");
    }
}

#[test]
fn an_empty_file_is_complete_at_once() {
    assert_eq!(time(&mut plan(0, 7), 0), [PlanEvent::Complete]);
}

#[test]
fn what_a_neighbour_has_or_takes_is_not_taken_from_the_origin() {
    let mut plan = plan(8, 0);
    assert_eq!(hear(&mut plan, 0, ANN, &[0], &[1, 2]), [ask(of(ANN), 0), ask(ORIGIN, 3), ask(ORIGIN, 4)]);
    // Two of one neighbour at a time.
    assert_eq!(hear(&mut plan, 10, ANN, &[0, 1, 2], &[5]), [ask(of(ANN), 1)]);
    assert_eq!(arrived(&mut plan, 20, of(ANN), 0, true), [ask(of(ANN), 2)]);
    // Who is asked for less is asked.
    assert_eq!(hear(&mut plan, 30, BEN, &[0, 1, 2, 6, 7], &[]), [ask(of(BEN), 6), ask(of(BEN), 7)]);
    assert_eq!(arrived(&mut plan, 40, ORIGIN, 3, true), [], "the rest is asked for or claimed");
}

#[test]
fn a_neighbour_that_gives_a_wrong_piece_is_left_for_good_and_the_piece_taken_elsewhere() {
    let mut plan = plan(6, 0);
    hear(&mut plan, 0, ANN, &[0, 1, 2, 3, 4, 5], &[]);
    let left = PlanEvent::Left(ANN, Reason::Lied);
    assert_eq!(
        arrived(&mut plan, 10, of(ANN), 0, false),
        [left, withdraw(of(ANN), 1), ask(ORIGIN, 0), ask(ORIGIN, 1)]
    );
    assert_eq!(hear(&mut plan, 20, ANN, &[0, 1, 2, 3, 4, 5], &[]), []);
    assert_eq!((plan.counters().wrong, plan.counters().ignored), (1, 1));
    assert_eq!(plan.neighbours().count(), 0);
}

#[test]
fn what_a_silent_neighbour_owes_is_taken_elsewhere_and_it_may_come_back() {
    let mut plan = plan(3, 0);
    hear(&mut plan, 0, ANN, &[0, 1], &[2]);
    assert_eq!(plan.poll_timeout(), Some(Deadline { at: at(1000), why: "choice" }));
    let events = time(&mut plan, 3000);
    assert!(events.starts_with(&[
        PlanEvent::Left(ANN, Reason::Silent),
        withdraw(of(ANN), 0),
        withdraw(of(ANN), 1)
    ]));
    assert!(events.ends_with(&[ask(ORIGIN, 0), ask(ORIGIN, 1)]));
    // It is heard again, and nothing is left that only the origin has.
    assert_eq!(
        hear(&mut plan, 3100, ANN, &[0, 1, 2], &[]),
        [ask(of(ANN), 2), withdraw(ORIGIN, 0), ask(of(ANN), 0)]
    );
    assert_eq!(plan.neighbours().count(), 1);
}

#[test]
fn who_owes_for_too_long_rests_longer_each_time_and_is_left_at_last() {
    let mut plan = Plan::new(at(0), 1, 0, PlanConfig { rest: Duration::from_secs(1), ..config() });
    // The origin is out of play.
    plan.origin_rests_until = at(10_000_000);
    let patience = config().patience.as_millis();
    let (mut now, mut asked) = (0, Vec::new());
    while plan.neighbours.get(&ANN).is_none_or(Neighbour::is_live) && now < 200_000 {
        let mut events = hear(&mut plan, now, ANN, &[0], &[]);
        events.extend(time(&mut plan, now));
        if events.contains(&ask(of(ANN), 0)) {
            asked.push(now);
        }
        now += 100;
    }
    let pauses: Vec<u64> = asked.windows(2).map(|pair| (pair[1] - pair[0] - patience) / 1000).collect();
    assert_eq!((asked.len(), pauses), (4, alloc::vec![1, 2, 4]));
    assert_eq!(plan.neighbours[&ANN].left, Some(Reason::Owing));
    assert_eq!(plan.counters().overdue, 4);
}

#[test]
fn an_idle_member_takes_what_others_are_slow_with_and_then_leaves_it_to_whoever_has_it_first() {
    let mut plan = plan(2, 0);
    assert_eq!(hear(&mut plan, 0, ANN, &[], &[1]), [ask(ORIGIN, 0)]);
    assert_eq!(arrived(&mut plan, 700, ORIGIN, 0, true), []);
    assert_eq!(plan.poll_timeout().map(|deadline| deadline.at), Some(at(1400)), "twice the time of a piece");
    assert_eq!(time(&mut plan, 1399), []);
    assert_eq!(time(&mut plan, 1400), [ask(ORIGIN, 1)]);
    assert_eq!(hear(&mut plan, 1500, ANN, &[1], &[]), [withdraw(ORIGIN, 1), ask(of(ANN), 1)]);
    assert_eq!(arrived(&mut plan, 1600, of(ANN), 1, true), [PlanEvent::Complete]);
}

#[test]
fn claims_that_are_not_kept_count_no_more() {
    // Who takes from the origin all the time has nothing to do but what is not claimed.
    let mut plan = Plan::new(at(0), 12, 0, PlanConfig { from_origin: 1, ..config() });
    let claims: Vec<u32> = (4..12).collect();
    let patience = config().claim_patience.as_millis();
    hear(&mut plan, 0, ANN, &[], &claims);
    let mut now = 0;
    while now <= patience {
        assert_eq!(plan.claimed_since(at(now), 11), Some(at(0)).filter(|_| now < patience), "{now}");
        now += 500;
        hear(&mut plan, now, ANN, &[], &claims);
    }
    time(&mut plan, now);
    // Eight were broken: nothing of Ann's is believed, whatever it claims.
    hear(&mut plan, now, ANN, &[], &[3]);
    assert_eq!(plan.claimed_since(at(now), 3), None);
    hear(&mut plan, now, BEN, &[], &[3]);
    assert_eq!(plan.claimed_since(at(now), 3), Some(at(now)));
}

#[test]
fn what_is_here_already_is_not_asked_for() {
    let mut plan = plan(3, 0);
    plan.handle_input(at(0), PlanInput::AlreadyHere(1));
    assert_eq!(time(&mut plan, 0), [ask(ORIGIN, 0), ask(ORIGIN, 2)]);
}

#[test]
fn an_origin_that_fails_rests_and_is_asked_again() {
    let mut plan = plan(1, 0);
    time(&mut plan, 0);
    plan.handle_input(at(10), PlanInput::Failed { from: ORIGIN, piece: 0 });
    assert_eq!(events(&mut plan), []);
    assert_eq!(plan.poll_timeout(), Some(Deadline { at: at(1010), why: "choice" }));
    assert_eq!(time(&mut plan, 1010), [ask(ORIGIN, 0)]);
}

#[test]
fn announcements_of_another_number_of_pieces_are_ignored() {
    let mut plan = plan(4, 0);
    let held = set(5, &[0, 1, 2, 3, 4]);
    plan.handle_input(at(0), PlanInput::Heard { from: ANN, held: &held, claims: &[] });
    assert_eq!((plan.counters().ignored, plan.neighbours().count()), (1, 0));
}

/// What a neighbour does when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Honest,
    Liar,
    Refuses,
    Stalls,
}

/// A neighbour that comes, goes, and says what it likes.
#[derive(Debug, Clone)]
struct Other {
    manner: Manner,
    comes_ms: u64,
    goes_ms: u64,
    has: BTreeSet<u32>,
}

/// One member's plan among such neighbours, with an origin that always gives.
struct Commons {
    plan: Plan,
    others: Vec<Other>,
    /// What is under way, and when it comes.
    under_way: BTreeMap<u32, (Source, u64)>,
    accepted: BTreeMap<u32, u32>,
    liars: BTreeSet<NeighbourId>,
    random: RandomStream,
    complete: u32,
}

impl Commons {
    fn take(&mut self, now: u64) {
        for event in events(&mut self.plan) {
            match event {
                PlanEvent::Ask { from, piece } => {
                    assert!(!self.accepted.contains_key(&piece), "piece {piece} is here");
                    if let Source::Neighbour(id) = from {
                        assert!(!self.liars.contains(&id), "a liar is asked again");
                    }
                    let takes = 20 + self.random.below(2000);
                    assert!(
                        self.under_way.insert(piece, (from, now + takes)).is_none(),
                        "{piece} is asked twice"
                    );
                }
                PlanEvent::Withdraw { from, piece } => {
                    assert_eq!(self.under_way.remove(&piece).map(|(asked, _)| asked), Some(from));
                }
                PlanEvent::Left(..) => {}
                PlanEvent::Complete => self.complete += 1,
            }
        }
    }

    fn come(&mut self, now: u64) {
        let due: Vec<u32> =
            self.under_way.iter().filter(|(_, (_, due))| *due <= now).map(|(piece, _)| *piece).collect();
        for piece in due {
            let Some(&(from, _)) = self.under_way.get(&piece) else { continue };
            let manner = match from {
                Source::Origin => Manner::Honest,
                Source::Neighbour(NeighbourId(number)) => {
                    let other = &self.others[number as usize];
                    if now < other.goes_ms { other.manner } else { Manner::Stalls }
                }
            };
            if manner == Manner::Stalls {
                continue;
            }
            self.under_way.remove(&piece);
            match manner {
                Manner::Stalls => {}
                Manner::Refuses => self.plan.handle_input(at(now), PlanInput::Failed { from, piece }),
                Manner::Honest | Manner::Liar => {
                    let is_right = manner == Manner::Honest;
                    if let (Source::Neighbour(id), false) = (from, is_right) {
                        self.liars.insert(id);
                    }
                    if is_right {
                        *self.accepted.entry(piece).or_default() += 1;
                    }
                    self.plan.handle_input(at(now), PlanInput::Arrived { from, piece, is_right });
                }
            }
            self.take(now);
        }
    }

    fn announce(&mut self, now: u64, count: u32) {
        for number in 0..self.others.len() {
            let other = &mut self.others[number];
            if !(other.comes_ms..other.goes_ms).contains(&now) || self.random.below(5) > 0 {
                continue;
            }
            other.has.insert(self.random.below(u64::from(count)) as u32);
            let has: Vec<u32> = other.has.iter().copied().collect();
            let claims: Vec<u32> = (0..8).map(|_| self.random.below(u64::from(count) + 3) as u32).collect();
            let held = set(count, &has);
            let from = NeighbourId(number as u32);
            self.plan.handle_input(at(now), PlanInput::Heard { from, held: &held, claims: &claims });
            self.take(now);
        }
    }
}

fn others() -> impl Strategy<Value = Vec<Other>> {
    let manner =
        prop_oneof![Just(Manner::Honest), Just(Manner::Liar), Just(Manner::Refuses), Just(Manner::Stalls)];
    let other = (manner, 0..20_000u64, 0..60_000u64, prop::collection::btree_set(0..40u32, 0..40));
    let other = other.prop_map(|(manner, comes_ms, stays_ms, has)| Other {
        manner,
        comes_ms,
        goes_ms: comes_ms + stays_ms,
        has,
    });
    prop::collection::vec(other, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_piece_is_taken_once_whatever_neighbours_join_leave_owe_and_lie(
        others in others(), count in 1..40u32, draw: u64, seed: u64,
    ) {
        let mut commons = Commons {
            plan: Plan::new(at(0), count, draw, config()),
            others,
            under_way: BTreeMap::new(),
            accepted: BTreeMap::new(),
            liars: BTreeSet::new(),
            random: Seed(seed).stream("commons"),
            complete: 0,
        };
        let mut now = 0;
        while commons.complete == 0 {
            prop_assert!(now < 400_000, "it never ends: {:?}", commons.plan);
            commons.announce(now, count);
            commons.come(now);
            if now == 0 || commons.plan.poll_timeout().is_some_and(|deadline| deadline.at <= at(now)) {
                commons.plan.handle_timeout(at(now));
                commons.take(now);
                let spins = commons.plan.poll_timeout().is_some_and(|deadline| deadline.at <= at(now));
                prop_assert!(!spins, "a deadline that was looked at is still due");
            }
            now += 20;
        }
        prop_assert_eq!(commons.accepted.len() as u32, count);
        prop_assert!(commons.accepted.values().all(|times| *times == 1));
        prop_assert!(commons.plan.held().is_whole() && commons.under_way.is_empty());
        prop_assert_eq!(commons.complete, 1);
    }
}
