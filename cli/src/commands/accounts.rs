//! `prismux accounts`: what links have carried, by day or billing month.
mod credit;
mod signed;

use super::status::STANDARD_SOCKETS;
use crate::args::{AccountsArguments, Period};
use crate::failure::Failure;
use crate::output::print;
use prismux_daemons::{config, status};
use prismux_sharing::{Account, Carried, Day, Entry, Ledger, ResetDay, journal};
use prismux_study::number;
use prismux_study::text_table::{Align, Table};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was carried from a day on, by link and peer.
type Periods = BTreeMap<(Day, Account), Carried>;

pub(crate) fn run(arguments: &AccountsArguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.verify {
        return signed::verify(file, &arguments.trust, arguments.json);
    }
    if arguments.signed || arguments.credit {
        let named = arguments.file.clone();
        let file = |accounts: PathBuf| prismux_daemons::statements::statements_file(&accounts);
        let files = match named {
            Some(named) => vec![named],
            None => files_of_this_host()?.into_iter().map(file).filter(|file| file.exists()).collect(),
        };
        return match arguments.credit {
            true => credit::print_all(&files, arguments.json),
            false => signed::list(&files, arguments.json),
        };
    }
    let files = match &arguments.file {
        Some(file) => vec![file.clone()],
        None => files_of_this_host()?,
    };
    let reset_day = ResetDay::new(arguments.reset_day).ok_or_else(|| {
        Failure::Usage(format!("--reset-day: {} is none, expected 1 to 31", arguments.reset_day))
    })?;
    let read = |file: PathBuf| {
        let ledger = read(&file)?;
        Ok((file, periods(&ledger, arguments.by, reset_day)))
    };
    let all = files.into_iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    if arguments.json {
        return Ok(print(serde_json::to_string_pretty(&as_json(&all)).map_err(Failure::failed)?)?);
    }
    if arguments.csv {
        return Ok(print(as_csv(&all)?.trim_end())?);
    }
    for (index, (file, periods)) in all.iter().enumerate() {
        if index > 0 {
            print("")?;
        }
        print(format!("{}\n{}", file.display(), as_table(periods)))?;
    }
    Ok(())
}

/// Those of running daemons, and those that others have left in the usual place.
fn files_of_this_host() -> Result<Vec<PathBuf>, Failure> {
    let file = |socket: &&str| {
        let socket = Path::new(socket);
        let page = status::query(socket).unwrap_or_default();
        page["accounts_file"].as_str().map_or_else(|| config::accounts_file(None, socket), PathBuf::from)
    };
    let files: Vec<PathBuf> = STANDARD_SOCKETS.iter().map(file).filter(|file| file.exists()).collect();
    if files.is_empty() {
        let message = "no daemon has kept accounts on this host\n  remedy: name their file with --file; \
                       they are readable for root alone";
        return Err(Failure::Failed(message.to_owned()));
    }
    Ok(files)
}

fn read(file: &Path) -> Result<Ledger, Failure> {
    let bytes =
        std::fs::read(file).map_err(|error| Failure::failed(format!("{}: {error}", file.display())))?;
    let (ledger, torn_lines) = journal::read(&String::from_utf8_lossy(&bytes));
    if ledger.is_empty() && torn_lines > 0 {
        return Err(Failure::Failed(format!("{} has no accounts in it", file.display())));
    }
    Ok(ledger)
}

fn periods(ledger: &Ledger, by: Period, reset_day: ResetDay) -> Periods {
    let mut periods = Periods::new();
    for Entry { day, account, carried } in ledger.entries() {
        let from = match by {
            Period::Day => day,
            Period::Month => reset_day.month_of(day).first,
        };
        let sum = periods.entry((from, account)).or_default();
        *sum = sum.plus(carried);
    }
    periods
}

fn as_table(periods: &Periods) -> String {
    let mut table = Table::new(&["from", "link", "peer", "down", "up", "together"]);
    table = table.align(1, Align::Left).align(2, Align::Left);
    for ((from, account), carried) in periods {
        let bytes = [carried.forward_bytes, carried.return_bytes, carried.total_bytes()].map(number::bytes);
        let words = [from.to_string(), account.link().to_owned(), account.peer().to_owned()];
        table.row(words.into_iter().chain(bytes));
    }
    table.to_string()
}

fn as_json(all: &[(PathBuf, Periods)]) -> serde_json::Value {
    let rows = all.iter().flat_map(|(file, periods)| {
        periods.iter().map(move |((from, account), carried)| {
            json!({ "file": file, "from": from.to_string(), "link": account.link(), "peer": account.peer(),
                "forward_bytes": carried.forward_bytes, "return_bytes": carried.return_bytes })
        })
    });
    rows.collect()
}

fn as_csv(all: &[(PathBuf, Periods)]) -> Result<String, Failure> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    let header = ["file", "from", "link", "peer", "forward_bytes", "return_bytes"];
    rows.write_record(header).map_err(Failure::failed)?;
    for (file, periods) in all {
        for ((from, account), carried) in periods {
            let (file, from) = (file.display().to_string(), from.to_string());
            let bytes = [carried.forward_bytes, carried.return_bytes].map(|bytes| bytes.to_string());
            let row = [&file, &from, account.link(), account.peer(), &bytes[0], &bytes[1]];
            rows.write_record(row).map_err(Failure::failed)?;
        }
    }
    String::from_utf8(rows.into_inner().map_err(Failure::failed)?).map_err(Failure::failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        let mut ledger = Ledger::default();
        for (day, link, forward_bytes) in
            [("2026-11-14", "wan0", 1_000_000), ("2026-11-15", "wan0", 2_000_000), ("2026-11-16", "wan,1", 7)]
        {
            let carried = Carried { forward_bytes, return_bytes: 40 };
            ledger.add(day.parse().unwrap(), &Account::new(link, "192.0.2.1:51820"), carried);
        }
        ledger
    }

    #[test]
    fn accounts_are_told_by_billing_month_and_by_day() {
        let month = periods(&ledger(), Period::Month, ResetDay::new(15).unwrap());
        let expected = "\
from        link   peer                down    up  together
----------  -----  ---------------  -------  ----  --------
2026-10-15  wan0   192.0.2.1:51820  1.00 MB  40 B   1.00 MB
2026-11-15  wan,1  192.0.2.1:51820      7 B  40 B      47 B
2026-11-15  wan0   192.0.2.1:51820  2.00 MB  40 B   2.00 MB";
        assert_eq!(as_table(&month), expected);
        assert_eq!(periods(&ledger(), Period::Day, ResetDay::default()).len(), 3);
    }

    #[test]
    fn csv_and_json_have_the_bytes() {
        let all = [("a.accounts".into(), periods(&ledger(), Period::Day, ResetDay::default()))];
        let csv = as_csv(&all).unwrap();
        assert_eq!(csv.lines().count(), 4);
        assert!(csv.contains("\na.accounts,2026-11-16,\"wan,1\",192.0.2.1:51820,7,40\n"), "{csv}");
        let json = as_json(&all);
        assert_eq!(json[0]["forward_bytes"], 1_000_000);
        assert_eq!(json.as_array().map(Vec::len), Some(3));
    }
}
