//! Caps, whatever packets, clocks and restarts do.
use chrono::{Days, NaiveDate};
use prismux_properties::cases;
use prismux_sharing::{
    Account, Carried, Day, Ledger, LocalTime, ResetDay, Rest, Share, Terms, Tier, journal,
};
use prismux_units::ByteCount;
use proptest::prelude::*;
use std::collections::BTreeMap;

const MAX_PACKET_BYTES: u64 = 1500;

fn at(day: &str, minute: u16) -> LocalTime {
    LocalTime { day: day.parse().unwrap(), minute }
}

/// The day so many days after one in 2024.
fn nth(days: u64) -> Day {
    (NaiveDate::default() + Days::new(20_000 + days)).to_string().parse().unwrap()
}

fn capped(per_day: Option<u64>, per_month: Option<u64>, reset_day: u8) -> Terms {
    Terms {
        cap_per_day: per_day.map(ByteCount::new),
        cap_per_month: per_month.map(ByteCount::new),
        reset_day: ResetDay::new(reset_day).unwrap(),
        hours: Vec::new(),
    }
}

/// A link, what its owner allows, and its accounts, as a daemon keeps them.
struct Link {
    share: Share,
    ledger: Ledger,
    account: Account,
    unbooked: Carried,
}

impl Link {
    fn new(terms: Terms) -> Self {
        let account = Account::new("wan0", "gateway");
        Self { share: Share::new(terms), ledger: Ledger::default(), account, unbooked: Carried::default() }
    }

    fn judge(&mut self, now: LocalTime) -> bool {
        self.ledger.add(now.day, &self.account, std::mem::take(&mut self.unbooked));
        self.share.judge(now, &self.ledger, "wan0")
    }

    /// A packet comes over the link, wanted or not.
    fn pass(&mut self, bytes: u64) {
        self.share.carry(bytes);
        self.unbooked = self.unbooked.plus(Carried { forward_bytes: bytes, return_bytes: 0 });
    }

    /// A packet wants to go out; whether it did.
    fn send(&mut self, now: LocalTime, bytes: u64) -> bool {
        if self.share.is_used_up() {
            self.judge(now);
        }
        let may_go = self.share.rest().is_none();
        if may_go {
            self.pass(bytes);
        }
        may_go
    }
}

#[test]
fn a_cap_ends_a_link_s_use_until_its_billing_month_ends() {
    let mut link = Link::new(capped(None, Some(5_000_000_000), 1));
    assert!(!link.judge(at("2026-11-23", 0)), "it may be used, and could before");
    link.pass(4_999_999_000);
    assert!(link.send(at("2026-11-23", 700), 1500), "a thousand bytes are left");
    assert!(!link.send(at("2026-11-23", 700), 40));
    let rest = link.share.rest().unwrap();
    assert_eq!(rest.to_string(), "its cap of 5 GB a month is used up until 1 December");
    assert!(!link.judge(at("2026-11-30", 1439)) && link.share.rest().is_some());
    assert!(link.judge(at("2026-12-01", 0)), "a rest ends");
    assert!(link.send(at("2026-12-01", 0), 1500));
}

#[test]
fn of_two_caps_the_one_that_lasts_longer_is_told_and_a_day_s_ends_with_the_day() {
    let mut link = Link::new(capped(Some(1000), Some(1500), 31));
    link.judge(at("2026-02-26", 5));
    link.pass(1000);
    link.judge(at("2026-02-26", 6));
    assert_eq!(link.share.rest().unwrap().to_string(), "its cap of 1 kB a day is used up until 27 February");
    assert!(link.judge(at("2026-02-27", 0)));
    link.pass(1000);
    link.judge(at("2026-02-27", 1));
    assert_eq!(
        link.share.rest().unwrap().to_string(),
        "its cap of 1.5 kB a month is used up until 28 February"
    );
    assert!(link.judge(at("2026-02-28", 0)), "the 31st of February is the 28th");
}

#[test]
fn a_link_rests_outside_its_hours() {
    let hours = ["22:00-06:00", "12:00-13:00"].map(|text| text.parse().unwrap()).to_vec();
    let mut link = Link::new(Terms { hours, ..Terms::default() });
    link.judge(at("2026-11-23", 7 * 60));
    assert!(matches!(link.share.rest(), Some(Rest::Hours { .. })));
    assert_eq!(link.share.rest().unwrap().to_string(), "its hours begin at 12:00");
    assert!(link.judge(at("2026-11-23", 12 * 60)) && link.share.rest().is_none());
    link.judge(at("2026-11-23", 14 * 60));
    assert_eq!(link.share.rest().unwrap().to_string(), "its hours begin at 22:00");
    assert!(link.judge(at("2026-11-24", 3)) && link.share.rest().is_none(), "the night goes on");
}

#[test]
fn a_clock_that_is_set_back_gives_no_day_twice_and_one_far_off_is_counted_all_the_same() {
    let mut link = Link::new(capped(Some(10_000), None, 1));
    for number in 0..500 {
        link.judge(LocalTime { day: nth(number), minute: 0 });
        link.pass(9000);
        link.judge(LocalTime { day: nth(number), minute: 1 });
    }
    link.judge(at("1970-01-01", 0));
    link.pass(9999);
    link.judge(at("1970-01-01", 0));
    assert!(link.send(at("1970-01-01", 0), 10), "one byte is left of 10,000");
    assert!(!link.send(at("1970-01-01", 0), 10));
    let yesterday = LocalTime { day: nth(498), minute: 0 };
    link.judge(yesterday);
    assert!(link.send(yesterday, 1000));
    assert!(!link.send(yesterday, 1000), "9,000 bytes of that day are not forgotten");
}

#[test]
fn accounts_are_read_back_as_they_were_written_and_torn_lines_are_left_out() {
    let mut ledger = Ledger::default();
    let (day, home) = (Day::from_date(2026, 11, 23).unwrap(), Account::new("wan 0\n", ""));
    ledger.add(day, &home, Carried { forward_bytes: 7, return_bytes: 9 });
    let mut file: String = ledger.take_changed().iter().map(journal::line).collect();
    assert_eq!(file.lines().next().unwrap().rsplit_once(' ').unwrap().0, "2026-11-23 wan_0_ - 7 9");
    ledger.add(day.next(), &home, Carried { forward_bytes: 1, return_bytes: 0 });
    ledger.add(day, &home, Carried { forward_bytes: 1, return_bytes: 0 });
    file.extend(ledger.take_changed().iter().map(journal::line));
    assert!(ledger.take_changed().is_empty());
    let (read, torn) = journal::read(&file);
    assert_eq!((read.entries().collect::<Vec<_>>(), torn), (ledger.entries().collect(), 0));
    assert_eq!(journal::read(&journal::whole(&ledger)).0.entries().count(), 2);
    let torn = &file[..file.len() - 4];
    let (read, lines) = journal::read(torn);
    assert_eq!((read.entries().count(), lines), (1, 1), "the last line counts no more, those before do");
    for at in 0..file.len() - 1 {
        let mut changed = file.clone().into_bytes();
        changed[at] ^= 1;
        let changed = String::from_utf8(changed).unwrap();
        assert!(journal::read(&changed).1 >= 1, "byte {at} was changed");
    }
}

#[test]
fn a_link_of_a_lesser_tier_is_used_when_no_better_one_lives() {
    use Tier::{Backup, Never, Primary, Secondary};
    for (living, used) in [
        (&[Primary, Backup][..], Some(Primary)),
        (&[Backup, Secondary], Some(Secondary)),
        (&[Backup, Backup, Never], Some(Backup)),
        (&[Never], None),
        (&[], None),
    ] {
        assert_eq!(Tier::in_use(living.iter().copied()), used, "{living:?}");
    }
    assert!(
        Tier::ALL.iter().all(|tier| tier.name().parse() == Ok(*tier)) && "third".parse::<Tier>().is_err()
    );
}

/// What happens to a link.
#[derive(Debug, Clone)]
enum Step {
    Send(u64),
    /// Packets that were under way when it stopped to be used.
    Late(u64),
    /// The daemon looks at the clock, which may say anything.
    Tick(u64, u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (40..=MAX_PACKET_BYTES).prop_map(Step::Send),
        1 => (40..=MAX_PACKET_BYTES).prop_map(Step::Late),
        2 => (0..40_u64, 0..1440_u16).prop_map(|(day, minute)| Step::Tick(day, minute)),
    ]
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn no_day_and_no_month_gets_more_than_its_cap_a_packet_and_what_was_under_way(
        steps in prop::collection::vec(step(), 1..400),
        per_day in 1000..40_000_u64,
        per_month in 1000..80_000_u64,
        reset_day in 1..=31_u8,
    ) {
        let reset_day = ResetDay::new(reset_day).unwrap();
        let mut link = Link::new(Terms { reset_day, ..capped(Some(per_day), Some(per_month), 1) });
        let mut now = LocalTime { day: nth(0), minute: 0 };
        link.judge(now);
        let mut by_day = BTreeMap::<Day, u64>::new();
        for step in steps {
            match step {
                Step::Send(bytes) if link.send(now, bytes) => *by_day.entry(now.day).or_default() += bytes,
                Step::Send(_) => {}
                Step::Late(bytes) => link.pass(bytes),
                Step::Tick(day, minute) => {
                    // What has passed belongs to the day before; the day's count, to the day that was.
                    link.judge(now);
                    now = LocalTime { day: nth(day), minute };
                    link.judge(now);
                }
            }
        }
        for (day, bytes) in &by_day {
            prop_assert!(*bytes < per_day + MAX_PACKET_BYTES, "{day}: {bytes} of {per_day}");
        }
        let mut by_month = BTreeMap::<Day, u64>::new();
        for (day, bytes) in by_day {
            *by_month.entry(reset_day.month_of(day).first).or_default() += bytes;
        }
        for (first, bytes) in by_month {
            prop_assert!(bytes < per_month + MAX_PACKET_BYTES, "from {first}: {bytes} of {per_month}");
        }
    }

    #[test]
    fn every_byte_is_booked_once_however_often_counters_begin_anew(
        counts in prop::collection::vec((0..5000_u64, 0..5000_u64, any::<bool>()), 1..50),
    ) {
        let (mut counter, mut before, mut booked, mut sent) =
            (Carried::default(), Carried::default(), Carried::default(), Carried::default());
        for (forward_bytes, return_bytes, begins_anew) in counts {
            let more = Carried { forward_bytes: forward_bytes + 1, return_bytes: return_bytes + 1 };
            if begins_anew && before.total_bytes() > 20_000 {
                counter = Carried::default();
            }
            counter = counter.plus(more);
            sent = sent.plus(more);
            booked = booked.plus(counter.since(before));
            before = counter;
        }
        prop_assert_eq!(booked, sent);
    }
}
