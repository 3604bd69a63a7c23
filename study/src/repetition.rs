//! Repetitions that repeat nothing: runs of several seeds that went the same way, because the seed changes nothing in
//! them.
use prismux_trace::results::{FlowResult, RunResult};

/// Whether two runs measured the same throughout, whatever their seeds, and whatever their transports are called.
pub fn same_outcome(a: &RunResult, b: &RunResult) -> bool {
    let RunResult {
        scenario: _,
        scenario_hash: _,
        seed: _,
        backend,
        version,
        duration_s,
        flows,
        groups,
        links,
        total,
        nodes,
        programs,
        series,
    } = a;
    let same_flow = |(name, flow): (&String, &FlowResult)| {
        b.flows
            .get(name)
            .is_some_and(|other| *flow == FlowResult { transport: flow.transport.clone(), ..other.clone() })
    };
    (*backend, version, duration_s) == (b.backend, &b.version, &b.duration_s)
        && (groups, links, total, nodes, series) == (&b.groups, &b.links, &b.total, &b.nodes, &b.series)
        && programs == &b.programs
        && flows.len() == b.flows.len()
        && flows.iter().all(same_flow)
}

/// Whether `runs`, several of them, are one run over and over.
pub fn is_one_run<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> bool {
    let mut runs = runs.into_iter();
    let Some(first) = runs.next() else { return false };
    let mut others = runs.map(|run| same_outcome(first, run)).peekable();
    others.peek().is_some() && others.all(|same| same)
}

/// What is said in place of an interval.
pub fn one_run(times: usize) -> String {
    format!("one run, repeated {times} times: the seed changes nothing in it")
}

#[cfg(test)]
mod tests {
    use super::is_one_run;
    use crate::run::{RunOptions, run};
    use prismux_scenario::ScenarioFile;
    use prismux_scenario::registry::Backend;
    use prismux_trace::results::RunResult;

    fn runs(set: &[&str]) -> Vec<RunResult> {
        const TEXT: &str = r#"
            duration = "2 s"
            nodes = { a = { kind = "host" }, b = { kind = "host" } }
            links.wire = { between = ["a", "b"], rate = "1 Mbit/s", delay = "20 ms" }
            flows.file = { from = "a", to = "b", bytes = "50 kB" }
        "#;
        let scenario = ScenarioFile::from_text("wire.toml", TEXT).scenario(None, set).unwrap();
        let once =
            |seed| run(&scenario, Backend::Sim, &RunOptions { seed, ..RunOptions::default() }).unwrap();
        (1..=3).map(once).collect()
    }

    #[test]
    fn seeds_that_change_nothing_make_one_run_and_those_that_do_make_several() {
        let equal = runs(&[]);
        assert!(is_one_run(&equal));
        assert!(!is_one_run(&equal[..1]), "one run repeats nothing");
        assert!(!is_one_run(&[]));
        assert!(!is_one_run(&runs(&["links.wire.loss=0.05"])));
    }
}
