//! Pipes with congestion controls of their own: explicit loss notification on the pipe that damages packets.

use super::{COLUMNS, LARGE_KB, duration, figures, ideal, least, links, mbps, mean, share, sockets};
use crate::claims::ClaimsError;
use crate::claims::Experiment;
use crate::claims::plan::{Job, Outcomes, Scope, point};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::number::digits;
use crate::statistics::Summary;

pub(super) const MIXED: Experiment = Experiment {
    id: "P8",
    title: "2 Mbit/s at 400 ms with TCP-ELN and damaged packets, 5 Mbit/s at 100 ms with TCP beside it",
    claims: &["PT-018", "PT-019", "ST-017", "ST-018"],
    lab: false,
    jobs,
    judge,
};

const PIPES: [usize; 2] = [1, 2];
/// Damaged packets in percent.
const PERCENT: [f64; 5] = [0.01, 0.03, 0.1, 0.3, 1.0];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for percent in PERCENT {
        let base = |pipes: &[usize]| {
            let damage = format!("links.pipe1.forward={{corrupt = {}}}", percent / 100.0);
            vec![duration(scope), damage, links(pipes)]
        };
        let mut add = |key: String, variant: &str, pipes: &[usize], set: &[String]| {
            let set = [base(pipes), set.to_vec()].concat();
            jobs.extend(point(scope, key, super::FILE, Some(variant), &set)?);
            Ok::<(), ClaimsError>(())
        };
        // Where nothing is damaged, notification changes nothing: the other pipe is a plain TCP.
        add(
            format!("ptcp/{percent}"),
            "ptcp",
            &PIPES,
            &["flows.upload.ptcp.loss_notification=true".to_string()],
        )?;
        let mut smart = sockets("smart", LARGE_KB);
        smart.push("flows.upload.striping.loss_notification=true".to_string());
        add(format!("smart/{percent}"), "smart", &PIPES, &smart)?;
        if percent == PERCENT[0] {
            // The repair of a damaged packet takes round trips: with fewer milliseconds in each.
            let near = "links.pipe1.delay=49 ms".to_string();
            add("smart/near".into(), "smart", &PIPES, &[smart, vec![near.clone()]].concat())?;
            let alone = ["flows.upload.transport=tcp-eln".to_string(), near.clone()];
            add("alone/near/1".into(), "single", &[1], &alone)?;
            add("alone/near/2".into(), "single", &[2], &[near])?;
        }
        add(format!("alone/{percent}/1"), "single", &[1], &["flows.upload.transport=tcp-eln".to_string()])?;
        add(format!("alone/{percent}/2"), "single", &[2], &[])?;
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let of = |way: &str, percent: f64| share(outcomes, way, &percent.to_string(), &PIPES);
    let at = |way: &str, percent: f64| mbps(outcomes, way, &percent.to_string());
    let ptcp = least(&PERCENT, |percent| of("ptcp", percent));
    let low = of("smart", PERCENT[0]);
    let (ptcp_worst, smart_worst) = (at("ptcp", 1.0), at("smart", 1.0));
    let first = mbps(outcomes, "alone", &format!("{}/1", PERCENT[0]));
    let near = share(outcomes, "smart", "near", &PIPES);
    let second = mbps(outcomes, "alone", "1/2");
    let findings = vec![
        Finding::shape(
            "PT-018",
            mean(&ptcp) >= 0.95,
            figures(&[("least share of ideal at any loss", &ptcp)]),
        ),
        Finding::shape(
            "PT-019",
            mean(&ptcp_worst) > mean(&smart_worst),
            figures(&[("pTCP at 1 %, Mbit/s", &ptcp_worst), ("smart", &smart_worst)]),
        ),
        Finding::shape("ST-017", mean(&low) >= 0.95, figures(&[("share of ideal at 0.01 %", &low)])).because(
            format!(
                "the application deals by the links' rates, 2 to 5, and TCP-ELN on the first pipe carries less than \
                 its 2 Mbit/s: the whole is {} Mbit/s, that pipe alone {} of which 3.5 times as much would be {}. \
                 Its repair takes round trips of 400 ms; not refuted by a first pipe of 100 ms \
                 (links.pipe1.delay = 49 ms): share of ideal {}",
                digits(mean(&at("smart", PERCENT[0]))),
                digits(mean(&first)),
                digits(3.5 * mean(&first)),
                digits(mean(&near)),
            ),
        ),
        Finding::shape(
            "ST-018",
            mean(&smart_worst) < mean(&second),
            figures(&[("smart at 1 %, Mbit/s", &smart_worst), ("pipe 2 alone", &second)]),
        )
        .because("against what pipe 2 delivers alone, which is less than its rate"),
    ];
    let mut series = Series::new("packets damaged, %", "goodput, Mbit/s", &COLUMNS[..3]);
    for percent in PERCENT {
        let mut cells = vec![Summary::of(&ideal(outcomes, &percent.to_string(), &PIPES))];
        cells.extend(["ptcp", "smart"].map(|way| Summary::of(&at(way, percent))));
        series.row(percent, cells);
    }
    (findings, vec![series])
}
