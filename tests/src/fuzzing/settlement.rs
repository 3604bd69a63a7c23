//! Target of what lenders and borrowers say: what is read is written as it was read, and nobody signs more than it has
//! counted, whatever comes.
use prismux_sharing::records::Record;
use prismux_sharing::settlement::{Borrower, Claim, Lender, Message};
use prismux_sharing::{Carried, Day, Signer};
use prismux_units::{Duration, Instant};

const COUNTED: Carried = Carried { forward_bytes: 1000, return_bytes: 100 };

fn signer(key: u8) -> Signer {
    Signer::new([key; 32], &[key; 32])
}

fn today() -> Day {
    Day::from_number(20_786).unwrap_or_default()
}

/// Both sides, each with something counted.
fn sides() -> (Lender, Borrower) {
    let kept = prismux_sharing::records::Records::default();
    let mut lender = Lender::new(signer(1), [2; 32], Duration::from_secs(60), &kept);
    let mut borrower = Borrower::new(signer(2), [1; 32], &kept);
    lender.carried(today(), COUNTED);
    borrower.carried(COUNTED);
    (lender, borrower)
}

/// A message, both who hear it, and a line of what is kept.
pub fn settlement(data: &[u8]) {
    if let Ok(line) = std::str::from_utf8(data)
        && let Some(record) = Record::parse(line)
    {
        assert_eq!(Record::parse(record.line().trim_end_matches('\n')), Some(record));
    }
    let Ok(message) = Message::parse(data) else { return };
    let mut again = Vec::new();
    message.emit(&mut again);
    assert_eq!(again, data);
    let (mut lender, mut borrower) = sides();
    let claim = lender.claim_now(Instant::ZERO);
    let is_counted = |carried: Carried| {
        carried.forward_bytes <= COUNTED.forward_bytes && carried.return_bytes <= COUNTED.return_bytes
    };
    match message {
        Message::Claim(claim) => {
            if let Ok(proposal) = borrower.claim(Instant::ZERO, today(), &claim) {
                assert!(is_counted(proposal.carried));
            }
        }
        Message::Proposal(proposal) => {
            if let Ok(confirmation) = lender.proposed(&proposal) {
                assert!(is_counted(confirmation.carried));
            }
        }
        Message::Confirmation(confirmation) => {
            let answer = claim.and_then(|claim| borrower.claim(Instant::ZERO, today(), &claim).ok());
            assert!(answer.is_some());
            if let Ok(signed) = borrower.confirmed(&confirmation) {
                assert_eq!(signed.verify(), Ok(()));
            }
        }
    }
}

/// What both say in a round, and what each keeps.
pub fn seeds() -> Vec<Vec<u8>> {
    let (mut lender, mut borrower) = sides();
    let verifying = signer(1).party().verifying;
    let claim = Claim { verifying, day: today(), sequence: 1, carried: COUNTED };
    let claim = lender.claim_now(Instant::ZERO).unwrap_or(claim);
    let mut messages = vec![Message::Claim(claim)];
    if let Ok(proposal) = borrower.claim(Instant::ZERO, today(), &claim) {
        messages.push(Message::Proposal(proposal));
        messages.extend(lender.proposed(&proposal).map(Message::Confirmation));
    }
    let emitted = messages.iter().map(|message| {
        let mut bytes = Vec::new();
        message.emit(&mut bytes);
        bytes
    });
    let records = lender.take_records().into_iter().chain(borrower.take_records());
    emitted.chain(records.map(|record| record.line().trim_end().as_bytes().to_vec())).collect()
}
