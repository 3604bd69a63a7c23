//! What neighbours owe each other, by statements that both have signed.
use super::signed::text;
use crate::failure::Failure;
use crate::output::print;
use prismux_sharing::Statement;
use prismux_sharing::records::{Records, base64};
use prismux_study::number;
use prismux_study::text_table::Table;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Bytes of both directions, lent to a neighbour and borrowed from it.
type Dealings = BTreeMap<[u8; 32], (u64, u64)>;

/// What daemons' files say.
pub(super) fn print_all(files: &[PathBuf], json: bool) -> Result<(), Failure> {
    let mut dealings = Dealings::new();
    for file in files {
        add(&mut dealings, &Records::read(&text(file)?).0);
    }
    if json {
        let row = |(key, &(lent, borrowed)): (&[u8; 32], &(u64, u64))| {
            json!({ "key": base64(key), "lent_bytes": lent, "borrowed_bytes": borrowed,
                "credit_bytes": i128::from(lent) - i128::from(borrowed) })
        };
        let rows: Vec<serde_json::Value> = dealings.iter().map(row).collect();
        return Ok(print(serde_json::to_string_pretty(&rows).map_err(Failure::failed)?)?);
    }
    Ok(print(as_table(&dealings))?)
}

/// Adds those of one daemon. Statements that are not what both signed count for nothing.
fn add(dealings: &mut Dealings, records: &Records) {
    for signed in records.statements().filter(|signed| signed.verify().is_ok()) {
        let Statement { lender, borrower, carried, .. } = &signed.statement;
        let bytes = carried.total_bytes();
        if records.has_borrowed_from(&lender.key) {
            let (_, borrowed) = dealings.entry(lender.key).or_default();
            *borrowed = borrowed.saturating_add(bytes);
        } else {
            let (lent, _) = dealings.entry(borrower.key).or_default();
            *lent = lent.saturating_add(bytes);
        }
    }
}

fn as_table(dealings: &Dealings) -> String {
    let mut table = Table::new(&["neighbour", "lent", "borrowed", "credit"]);
    for (key, &(lent, borrowed)) in dealings {
        let sign = if borrowed > lent { "-" } else { "" };
        let credit = format!("{sign}{}", number::bytes(lent.abs_diff(borrowed)));
        table.row([base64(key), number::bytes(lent), number::bytes(borrowed), credit]);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prismux_sharing::records::Record;
    use prismux_sharing::{Carried, Signed, Signer};

    fn signed([lender, borrower]: [u8; 2], bytes: u64) -> Record {
        let [lender, borrower] = [lender, borrower].map(|key| Signer::new([key; 32], &[key; 32]));
        let (lends, borrows) = (lender.party(), borrower.party());
        let carried = Carried { forward_bytes: bytes, return_bytes: 0 };
        let day = "2026-11-29".parse().unwrap();
        let statement = Statement { lender: lends, borrower: borrows, day, sequence: 1, carried };
        let (by_lender, by_borrower) = (lender.sign(&statement), borrower.sign(&statement));
        Record::Statement(Box::new(Signed { statement, by_lender, by_borrower }))
    }

    #[test]
    fn what_came_back_is_taken_off_what_was_lent() {
        let mut dealings = Dealings::new();
        let mut member = Records::default();
        member.note(signed([1, 2], 5_000_000));
        add(&mut dealings, &member);
        let mut proxy = Records::default();
        proxy.note(Record::Unsigned { lender: [2; 32], carried: Carried::default() });
        proxy.note(signed([2, 1], 7_000_000));
        add(&mut dealings, &proxy);
        assert_eq!(dealings.get(&[2; 32]), Some(&(5_000_000, 7_000_000)));
        let table = as_table(&dealings);
        assert!(table.lines().last().unwrap().ends_with("-2.00 MB"), "{table}");
    }
}
