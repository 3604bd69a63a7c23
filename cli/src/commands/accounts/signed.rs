//! Statements that member and proxy have signed: listed, exported, and verified without asking anybody.
use crate::failure::Failure;
use crate::output::print;
use prismux_sharing::records::{Records, base64, from_base64};
use prismux_sharing::{Carried, Party, Signed, Statement};
use prismux_study::number;
use prismux_study::text_table::{Align, Table};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A statement as JSON has it. Keys and signatures are in base64.
#[derive(Debug, Serialize, Deserialize)]
struct Exported {
    day: String,
    sequence: u64,
    forward_bytes: u64,
    return_bytes: u64,
    lender: Side,
    borrower: Side,
}

/// One of those who signed.
#[derive(Debug, Serialize, Deserialize)]
struct Side {
    /// Its static key.
    key: String,
    /// What its signature is verified with.
    verifying: String,
    signature: String,
}

impl Side {
    fn of(party: &Party, signature: &[u8]) -> Self {
        Self { key: base64(&party.key), verifying: base64(&party.verifying), signature: base64(signature) }
    }

    fn party(&self) -> Option<Party> {
        Some(Party { key: from_base64(&self.key)?, verifying: from_base64(&self.verifying)? })
    }
}

impl Exported {
    fn of(signed: &Signed) -> Self {
        let Statement { lender, borrower, day, sequence, carried } = &signed.statement;
        Self {
            day: day.to_string(),
            sequence: *sequence,
            forward_bytes: carried.forward_bytes,
            return_bytes: carried.return_bytes,
            lender: Side::of(lender, &signed.by_lender),
            borrower: Side::of(borrower, &signed.by_borrower),
        }
    }

    fn signed(&self) -> Option<Signed> {
        let &Self { sequence, forward_bytes, return_bytes, .. } = self;
        let (lender, borrower) = (self.lender.party()?, self.borrower.party()?);
        let (day, carried) = (self.day.parse().ok()?, Carried { forward_bytes, return_bytes });
        Some(Signed {
            statement: Statement { lender, borrower, day, sequence, carried },
            by_lender: from_base64(&self.lender.signature)?,
            by_borrower: from_base64(&self.borrower.signature)?,
        })
    }
}

/// Lists those that daemons have kept.
pub(super) fn list(files: &[PathBuf], json: bool) -> Result<(), Failure> {
    let mut all = Vec::new();
    for file in files {
        all.extend(Records::read(&text(file)?).0.statements().copied());
    }
    if json {
        let exported: Vec<Exported> = all.iter().map(Exported::of).collect();
        return Ok(print(serde_json::to_string_pretty(&exported).map_err(Failure::failed)?)?);
    }
    if all.is_empty() {
        let none = "nothing has been signed yet; tunnels without keys have nothing to sign with";
        return Ok(print(none)?);
    }
    Ok(print(as_table(all.iter().map(|signed| (signed, None))))?)
}

/// Verifies all statements of a file.
pub(super) fn verify(file: &Path, trusted: &[String], json: bool) -> Result<(), Failure> {
    let statements = read(file)?;
    let key = |text: &String| {
        let expected =
            "expected 44 characters of base64, the \"verifying\" of prismux accounts --signed --json";
        from_base64(text).ok_or_else(|| Failure::Usage(format!("--trust: \"{text}\" is no key, {expected}")))
    };
    let trusted: Vec<[u8; 32]> = trusted.iter().map(key).collect::<Result<_, _>>()?;
    let judged: Vec<(&Signed, Option<String>)> =
        statements.iter().map(|signed| (signed, wrong(signed, &trusted))).collect();
    let failed = judged.iter().filter(|(_, wrong)| wrong.is_some()).count();
    if json {
        let row = |(signed, wrong): &(&Signed, Option<String>)| {
            let statement = Exported::of(signed);
            serde_json::json!({ "statement": statement, "verified": wrong.is_none(), "wrong": wrong })
        };
        let rows: Vec<serde_json::Value> = judged.iter().map(row).collect();
        print(serde_json::to_string_pretty(&rows).map_err(Failure::failed)?)?;
    } else {
        let verdict = |wrong: &Option<String>| wrong.clone().unwrap_or_else(|| "signed by both".to_owned());
        print(as_table(judged.iter().map(|(signed, wrong)| (*signed, Some(verdict(wrong))))))?;
    }
    match failed {
        0 => Ok(()),
        _ => {
            Err(Failure::Failed(format!("{failed} of {} statements are not what both signed", judged.len())))
        }
    }
}

/// What is wrong with a statement, if anything is.
fn wrong(signed: &Signed, trusted: &[[u8; 32]]) -> Option<String> {
    if let Err(forged) = signed.verify() {
        return Some(forged.to_string());
    }
    let Statement { lender, borrower, .. } = &signed.statement;
    for (who, party) in [("lender", lender), ("borrower", borrower)] {
        if !trusted.is_empty() && !trusted.contains(&party.verifying) {
            return Some(format!(
                "the {who} has signed with {}, which is not trusted",
                base64(&party.verifying)
            ));
        }
    }
    None
}

/// Statements as JSON, or as a daemon keeps them.
fn read(file: &Path) -> Result<Vec<Signed>, Failure> {
    let (text, shown) = (text(file)?, file.display());
    let statements = if text.trim_start().starts_with('[') {
        let exported: Vec<Exported> = serde_json::from_str(&text).map_err(|error| {
            Failure::failed(format!("{shown}: {error}; expected what --signed --json prints"))
        })?;
        let number = |(index, exported): (usize, &Exported)| {
            let wrong = format!("{shown}: statement {}: a key, signature or day cannot be read", index + 1);
            exported.signed().ok_or(Failure::Failed(wrong))
        };
        exported.iter().enumerate().map(number).collect::<Result<_, _>>()?
    } else {
        let (records, torn_lines) = Records::read(&text);
        if torn_lines > 0 {
            return Err(Failure::Failed(format!("{shown}: {torn_lines} lines are torn or changed")));
        }
        records.statements().copied().collect::<Vec<_>>()
    };
    if statements.is_empty() {
        return Err(Failure::Failed(format!("{shown} has no statements in it")));
    }
    Ok(statements)
}

pub(super) fn text(file: &Path) -> Result<String, Failure> {
    let bytes =
        std::fs::read(file).map_err(|error| Failure::failed(format!("{}: {error}", file.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn as_table<'a>(rows: impl Iterator<Item = (&'a Signed, Option<String>)>) -> String {
    let rows: Vec<_> = rows.collect();
    let is_judged = rows.iter().any(|(_, verdict)| verdict.is_some());
    let head = ["day", "lender", "borrower", "down", "up", "together", "verdict"];
    let mut table = Table::new(if is_judged { &head } else { &head[..6] });
    table = table.align(1, Align::Left).align(2, Align::Left);
    if is_judged {
        table = table.align(6, Align::Left);
    }
    for (signed, verdict) in rows {
        let Statement { lender, borrower, day, carried, .. } = &signed.statement;
        let bytes = [carried.forward_bytes, carried.return_bytes, carried.total_bytes()].map(number::bytes);
        let words = [day.to_string(), base64(&lender.key), base64(&borrower.key)];
        table.row(words.into_iter().chain(bytes).chain(verdict));
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prismux_sharing::Signer;
    use prismux_sharing::records::Record;

    fn signed() -> Signed {
        let [lender, borrower] = [1, 2].map(|key| Signer::new([key; 32], &[key + 7; 32]));
        let statement = Statement {
            lender: lender.party(),
            borrower: borrower.party(),
            day: "2026-11-29".parse().unwrap(),
            sequence: 3,
            carried: Carried { forward_bytes: 1_000_000, return_bytes: 40 },
        };
        Signed { statement, by_lender: lender.sign(&statement), by_borrower: borrower.sign(&statement) }
    }

    fn with_file<T>(name: &str, text: &str, of: impl FnOnce(&Path) -> T) -> T {
        let file = std::env::temp_dir().join(format!("prismux-signed-{name}-{}", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let value = of(&file);
        std::fs::remove_file(file).unwrap();
        value
    }

    #[test]
    fn what_is_exported_is_verified_and_what_was_changed_since_is_not() {
        let exported = serde_json::to_string(&[Exported::of(&signed())]).unwrap();
        let line = Record::Statement(Box::new(signed())).line();
        let (verifying, other) = (base64(&signed().statement.lender.verifying), base64(&[9; 32]));
        let all = [verifying.clone(), base64(&signed().statement.borrower.verifying)];
        for (name, text) in [("json", &exported), ("lines", &line)] {
            with_file(name, text, |file| {
                assert_eq!(read(file).unwrap(), [signed()]);
                verify(file, &[], false).unwrap();
                verify(file, &all, true).unwrap();
                assert!(verify(file, &all[..1], true).is_err(), "the borrower's key is not trusted");
                assert!(verify(file, &["short".to_owned()], true).is_err());
            });
        }
        let changed = [
            exported.replace("1000000", "1000001"),
            exported.replace("2026-11-29", "2026-11-30"),
            exported.replace(&verifying, &other),
            exported.replace(&base64(&[1; 32]), &base64(&[3; 32])),
            line.replace(" 1000000 ", " 1000001 "),
            "[]".to_owned(),
            "nonsense\n".to_owned(),
        ];
        for (number, text) in changed.iter().enumerate() {
            with_file(&format!("changed-{number}"), text, |file| assert!(verify(file, &[], true).is_err()));
        }
    }
}
