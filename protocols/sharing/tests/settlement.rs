//! Statements of a lender and a borrower, whatever is lost, repeated, late or forged.
use prismux_properties::cases;
use prismux_sharing::records::{Record, Records};
use prismux_sharing::settlement::{Borrower, Claim, Lender, Message, Refusal};
use prismux_sharing::{Carried, Day, Forged, Signed, Signer, Statement};
use prismux_units::{Duration, Instant};
use proptest::prelude::*;
use std::collections::BTreeMap;

const INTERVAL: Duration = Duration::from_secs(60);
const LENDER: [u8; 32] = [1; 32];
const BORROWER: [u8; 32] = [2; 32];

fn signer(key: [u8; 32]) -> Signer {
    Signer::new(key, &[key[0] + 100; 32])
}

fn bytes(forward_bytes: u64, return_bytes: u64) -> Carried {
    Carried { forward_bytes, return_bytes }
}

fn day(number: u64) -> Day {
    Day::from_number(20_000 + number as i32).unwrap()
}

/// Both sides, what each has kept, and every message that was ever sent.
struct Pair {
    lender: Lender,
    borrower: Borrower,
    kept: [Records; 2],
    now: Instant,
    today: u64,
    /// What each has counted: the lender by day, the borrower in all.
    lent: BTreeMap<u64, Carried>,
    borrowed: Carried,
    sent: Vec<Message>,
    signed: Vec<Signed>,
}

impl Pair {
    fn new() -> Self {
        let kept = [Records::default(), Records::default()];
        Self {
            lender: Lender::new(signer(LENDER), BORROWER, INTERVAL, &kept[0]),
            borrower: Borrower::new(signer(BORROWER), LENDER, &kept[1]),
            kept,
            now: Instant::ZERO,
            today: 0,
            lent: BTreeMap::new(),
            borrowed: Carried::default(),
            sent: Vec::new(),
            signed: Vec::new(),
        }
    }

    /// Traffic, of which each side counts something else.
    fn carry(&mut self, lent: Carried, borrowed: Carried) {
        self.lender.carried(day(self.today), lent);
        self.borrower.carried(borrowed);
        let total = self.lent.entry(self.today).or_default();
        *total = total.plus(lent);
        self.borrowed = self.borrowed.plus(borrowed);
        self.keep();
    }

    fn keep(&mut self) {
        for (kept, records) in
            self.kept.iter_mut().zip([self.lender.take_records(), self.borrower.take_records()])
        {
            for record in records {
                if let Record::Statement(signed) = &record {
                    self.signed.push(**signed);
                }
                kept.note(record);
            }
        }
    }

    /// Brings a message to whom it is for, and returns the answer.
    fn bring(&mut self, message: &Message) -> Result<Option<Message>, Refusal> {
        let answer = match message {
            Message::Claim(claim) => {
                let proposal = self.borrower.claim(self.now, day(self.today), claim);
                proposal.map(|proposal| Some(Message::Proposal(proposal)))
            }
            Message::Proposal(proposal) => {
                self.lender.proposed(proposal).map(|confirmation| Some(Message::Confirmation(confirmation)))
            }
            Message::Confirmation(confirmation) => self.borrower.confirmed(confirmation).map(|_| None),
        };
        self.keep();
        self.sent.extend(answer.iter().flatten());
        answer
    }

    /// A whole round, of which nothing is lost.
    fn settle(&mut self) {
        self.now += INTERVAL;
        self.lender.begin();
        let mut next = self.lender.claim_now(self.now).map(Message::Claim);
        self.sent.extend(next);
        while let Some(message) = next {
            next = self.bring(&message).unwrap();
        }
    }

    /// Both begin anew with what a file has.
    fn restart(&mut self) {
        let [lent, borrowed] = [0, 1].map(|side: usize| {
            let (read, torn_lines) = Records::read(&self.kept[side].whole());
            assert_eq!((&read, torn_lines), (&self.kept[side], 0));
            read
        });
        self.lender = Lender::new(signer(LENDER), BORROWER, INTERVAL, &lent);
        self.borrower = Borrower::new(signer(BORROWER), LENDER, &borrowed);
    }

    /// Nobody has signed more than it has counted, nor taken anything back.
    fn check(&self) {
        let mut by_day: BTreeMap<Day, Carried> = BTreeMap::new();
        let mut last: BTreeMap<Day, (u64, Carried)> = BTreeMap::new();
        for signed in &self.signed {
            assert_eq!(signed.verify(), Ok(()));
            let Statement { day, sequence, carried, .. } = signed.statement;
            let total = by_day.entry(day).or_default();
            *total = bytes(
                total.forward_bytes.max(carried.forward_bytes),
                total.return_bytes.max(carried.return_bytes),
            );
            // Both sides keep each: of one sequence there is one statement.
            let (before, less) = last.insert(day, (sequence, carried)).unwrap_or_default();
            if before == sequence {
                assert_eq!(less, carried);
            } else if before < sequence {
                assert!(less.forward_bytes <= carried.forward_bytes);
                assert!(less.return_bytes <= carried.return_bytes);
            }
        }
        let mut promised: BTreeMap<Day, Carried> = BTreeMap::new();
        for message in &self.sent {
            let Message::Proposal(proposal) = message else { continue };
            let total = promised.entry(proposal.day).or_default();
            total.forward_bytes = total.forward_bytes.max(proposal.carried.forward_bytes);
            total.return_bytes = total.return_bytes.max(proposal.carried.return_bytes);
        }
        let all = promised.values().fold(Carried::default(), |sum, carried| sum.plus(*carried));
        assert!(all.forward_bytes <= self.borrowed.forward_bytes, "{all:?} {:?}", self.borrowed);
        assert!(all.return_bytes <= self.borrowed.return_bytes, "{all:?} {:?}", self.borrowed);
        for (&number, counted) in &self.lent {
            let signed = by_day.get(&day(number)).copied().unwrap_or_default();
            assert!(signed.forward_bytes <= counted.forward_bytes);
            assert!(signed.return_bytes <= counted.return_bytes);
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Carry(Carried, Carried),
    Claim,
    /// Brings the message of this number, counted from the last, once more or for the first time.
    Bring(usize),
    /// The same, changed at a byte.
    Forge(usize, usize, u8),
    /// The lender claims what it has not counted.
    Lie(u64),
    Midnight,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let carried = || (0..1_000_000_u64, 0..1_000_000_u64).prop_map(|(a, b)| bytes(a, b));
    let step = prop_oneof![
        3 => (carried(), carried()).prop_map(|(lent, borrowed)| Step::Carry(lent, borrowed)),
        3 => Just(Step::Claim),
        6 => (0..4_usize).prop_map(Step::Bring),
        2 => (0..4_usize, 0..140_usize, 1..=255_u8).prop_map(|(n, at, bits)| Step::Forge(n, at, bits)),
        1 => any::<u64>().prop_map(Step::Lie),
        1 => Just(Step::Midnight),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..60)
}

fn take(pair: &mut Pair, step: &Step) {
    pair.now += Duration::from_secs(1);
    let nth = |pair: &Pair, n: usize| pair.sent.iter().rev().nth(n).copied();
    match *step {
        Step::Carry(lent, borrowed) => pair.carry(lent, borrowed),
        Step::Claim => {
            let claim = pair.lender.claim_now(pair.now).map(Message::Claim);
            pair.sent.extend(claim);
        }
        Step::Bring(n) => {
            if let Some(message) = nth(pair, n) {
                let _ = pair.bring(&message);
            }
        }
        Step::Forge(n, at, bits) => {
            let Some(message) = nth(pair, n) else { return };
            let mut forged = Vec::new();
            message.emit(&mut forged);
            let at = at % forged.len();
            forged[at] ^= bits;
            if let Ok(forged) = Message::parse(&forged) {
                let _ = pair.bring(&forged);
            }
        }
        Step::Lie(bytes_claimed) => {
            let claim = Claim {
                verifying: signer(LENDER).party().verifying,
                day: day(pair.today),
                sequence: bytes_claimed % 1000,
                carried: bytes(bytes_claimed, bytes_claimed),
            };
            let _ = pair.bring(&Message::Claim(claim));
        }
        Step::Midnight => pair.today += 1,
        Step::Restart => pair.restart(),
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn nobody_signs_more_than_it_has_counted(steps in steps()) {
        let mut pair = Pair::new();
        for step in &steps {
            take(&mut pair, step);
            pair.check();
        }
    }

    #[test]
    fn both_sides_come_to_one_statement_of_what_has_arrived(
        rounds in prop::collection::vec(
            (0..1_000_000_u64, 0..1_000_000_u64, 0..9_u64, 0..4_usize, any::<bool>()), 1..20
        ),
    ) {
        let mut pair = Pair::new();
        for (down, up, lost, brought, is_midnight) in rounds {
            // Of what one side sends the other counts what is not lost.
            pair.carry(bytes(down - down * lost / 100, up), bytes(down, up - up * lost / 100));
            pair.now += INTERVAL;
            let mut next = pair.lender.claim_now(pair.now).map(Message::Claim);
            for _ in 0..brought {
                next = next.and_then(|message| pair.bring(&message).unwrap());
            }
            if is_midnight {
                pair.settle();
                pair.today += 1;
            }
        }
        pair.carry(bytes(1, 1), bytes(1, 1));
        (0..5).for_each(|_| pair.settle());
        pair.check();
        let last = |kept: &Records| kept.statements().last().copied();
        prop_assert_eq!(last(&pair.kept[0]), last(&pair.kept[1]));
        // Where confirmations were lost over and over, the lender alone has the last statement of a day.
        let all: Vec<Signed> = pair.kept[0].statements().copied().collect();
        let is_newer = |signed: &Signed, old: &Signed| {
            signed.statement.day == old.statement.day && signed.statement.sequence >= old.statement.sequence
        };
        prop_assert!(pair.kept[1].statements().all(|old| all.iter().any(|signed| is_newer(signed, old))));
        let signed: u64 = pair.kept[0].statements().map(|s| s.statement.carried.total_bytes()).sum();
        let down: u64 = pair.lent.values().map(|carried| carried.forward_bytes).sum();
        prop_assert_eq!(signed, down + pair.borrowed.return_bytes);
        prop_assert_eq!(pair.lender.signed_bytes(), signed);
    }
}

#[test]
fn what_was_signed_before_is_not_signed_for_another_day() {
    let mut pair = Pair::new();
    pair.carry(bytes(1000, 100), bytes(1000, 100));
    pair.settle();
    pair.today += 1;
    pair.restart();
    let claim = Claim {
        verifying: signer(LENDER).party().verifying,
        day: day(1),
        sequence: 9,
        carried: bytes(1000, 100),
    };
    pair.now += INTERVAL;
    let Ok(Some(Message::Proposal(proposal))) = pair.bring(&Message::Claim(claim)) else { panic!() };
    assert_eq!(proposal.carried, Carried::default());
}

#[test]
fn other_keys_other_days_floods_and_forgeries_are_refused_and_counted() {
    let mut pair = Pair::new();
    pair.carry(bytes(1000, 100), bytes(1000, 100));
    pair.settle();
    pair.carry(bytes(1000, 100), bytes(1000, 100));
    pair.now += INTERVAL;
    let claim = pair.lender.claim_now(pair.now).unwrap();
    let other = signer([3; 32]).party().verifying;
    let refused = |pair: &mut Pair, message: Message| pair.bring(&message).unwrap_err();
    assert_eq!(
        refused(&mut pair, Message::Claim(Claim { verifying: other, ..claim })),
        Refusal::OtherKey,
        "the key is that of the first statement"
    );
    assert_eq!(refused(&mut pair, Message::Claim(Claim { day: day(2), ..claim })), Refusal::OtherDay);
    let Ok(Some(Message::Proposal(proposal))) = pair.bring(&Message::Claim(claim)) else { panic!() };
    let mut forged = proposal;
    forged.carried.forward_bytes += 1;
    assert_eq!(refused(&mut pair, Message::Proposal(forged)), Refusal::Forged);
    forged = proposal;
    forged.verifying = other;
    assert_eq!(refused(&mut pair, Message::Proposal(forged)), Refusal::OtherKey);
    let Ok(Some(Message::Confirmation(confirmation))) = pair.bring(&Message::Proposal(proposal)) else {
        panic!()
    };
    let again = pair.bring(&Message::Proposal(proposal));
    assert_eq!(again, Ok(Some(Message::Confirmation(confirmation))), "it may have been lost");
    let mut forged = confirmation;
    forged.signature[7] ^= 1;
    assert_eq!(refused(&mut pair, Message::Confirmation(forged)), Refusal::Forged);
    assert_eq!(pair.bring(&Message::Confirmation(confirmation)), Ok(None));
    assert_eq!(pair.lender.counters().refused, 2);
    assert_eq!(pair.borrower.counters().refused, 3);
    let answered = (0..100).filter(|_| pair.bring(&Message::Claim(claim)).is_ok()).count();
    assert_eq!((answered, pair.borrower.counters().refused), (3, 100));
    assert_eq!(pair.bring(&Message::Claim(claim)), Err(Refusal::TooSoon));
    pair.now += Duration::from_secs(1);
    assert!(pair.bring(&Message::Claim(claim)).is_ok());
}

#[test]
fn a_borrower_that_says_more_than_was_lent_gets_no_signature() {
    let mut pair = Pair::new();
    pair.carry(bytes(1000, 100), bytes(1000, 100));
    let claim = pair.lender.claim_now(pair.now).unwrap();
    let mut statement = Statement {
        lender: signer(LENDER).party(),
        borrower: signer(BORROWER).party(),
        day: claim.day,
        sequence: claim.sequence,
        carried: bytes(1001, 100),
    };
    let proposal = |statement: &Statement| prismux_sharing::settlement::SignedCount {
        verifying: statement.borrower.verifying,
        day: statement.day,
        sequence: statement.sequence,
        carried: statement.carried,
        signature: signer(BORROWER).sign(statement),
    };
    assert_eq!(pair.lender.proposed(&proposal(&statement)), Err(Refusal::MoreThanCounted));
    statement.carried = bytes(1000, 100);
    statement.sequence = 0;
    assert_eq!(pair.lender.proposed(&proposal(&statement)), Err(Refusal::Backwards));
    statement.sequence = 1;
    assert!(pair.lender.proposed(&proposal(&statement)).is_ok());
}

#[test]
fn what_is_carried_and_not_signed_is_owed_as_well() {
    let mut pair = Pair::new();
    pair.carry(bytes(10_000_000, 0), bytes(10_000_000, 0));
    assert_eq!((pair.lender.signed_bytes(), pair.lender.owed_bytes()), (0, 10_000_000));
    pair.settle();
    assert_eq!((pair.lender.signed_bytes(), pair.lender.owed_bytes()), (10_000_000, 10_000_000));
    // A borrower that counts half of what came, or says so.
    pair.carry(bytes(10_000_000, 0), bytes(5_000_000, 0));
    pair.settle();
    assert_eq!((pair.lender.signed_bytes(), pair.lender.owed_bytes()), (15_000_000, 20_000_000));
    assert_eq!(pair.lender.counters().short, 1);
}

#[test]
fn a_claim_that_nobody_answers_is_made_three_times_and_again_once_the_borrower_is_there_anew() {
    let mut pair = Pair::new();
    pair.carry(bytes(1, 1), bytes(1, 1));
    let mut claims = || {
        let tries = (0..20).filter(|_| {
            pair.now += INTERVAL;
            pair.lender.poll(pair.now).is_some()
        });
        let made = tries.count();
        pair.lender.begin();
        made
    };
    assert_eq!([claims(), claims()], [3, 3]);
}

/// What a third party needs: exactly these bytes, and RFC 8032.
#[test]
fn the_bytes_that_are_signed_have_one_form() {
    let [lender, borrower] = [LENDER, BORROWER].map(signer);
    let statement = Statement {
        lender: lender.party(),
        borrower: borrower.party(),
        day: "2026-11-29".parse().unwrap(),
        sequence: 7,
        carried: bytes(0x0102, 0x0304),
    };
    let mut expected = b"prismux statement 1\n".to_vec();
    for party in [lender.party(), borrower.party()] {
        expected.extend(party.key);
        expected.extend(party.verifying);
    }
    expected.extend([0, 0, 0x51, 0x32]);
    expected.extend([0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 4]);
    assert_eq!(statement.bytes().to_vec(), expected);
    let signed =
        Signed { statement, by_lender: lender.sign(&statement), by_borrower: borrower.sign(&statement) };
    assert_eq!(signed.verify(), Ok(()));
    assert_eq!(Signed { by_lender: signed.by_borrower, ..signed }.verify(), Err(Forged::Lender));
    assert_eq!(Signed { by_borrower: signed.by_lender, ..signed }.verify(), Err(Forged::Borrower));
    let line = Record::Statement(Box::new(signed)).line();
    assert_eq!(Record::parse(line.trim_end_matches('\n')), Some(Record::Statement(Box::new(signed))));
    for cut in 0..line.len() - 1 {
        assert_eq!(Record::parse(&line[..cut]), None);
    }
}
