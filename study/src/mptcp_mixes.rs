//! Mixes of two or three clean links, over which MPTCP in the simulator is held against the kernel's in the lab.
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_scenario::ScenarioFile;
use std::fmt::Write as _;

/// Seconds of each run. Slow start is part of it.
const SECONDS: u32 = 15;
/// Rates of links in Mbit/s and delays one way in milliseconds, log-uniform; all rates together stay below the last.
const RATES_MBPS: (f64, f64) = (4.0, 30.0);
const DELAYS_MS: (f64, f64) = (5.0, 60.0);
const MAX_TOTAL_MBPS: f64 = 60.0;
/// Queues in bandwidth-delay products, log-uniform.
const QUEUES_BDP: (f64, f64) = (0.7, 2.0);

/// `count` scenarios, each the same for the same seed and number: a download by MPTCP over two or three links with one
/// large receive buffer, which runs on both backends.
pub fn mptcp_mixes(seed: u64, count: usize) -> Vec<ScenarioFile> {
    let random = |number: usize| Seed(seed).stream(&format!("mptcp-mix/{number}"));
    (1..=count)
        .map(|number| ScenarioFile::from_text(format!("mix-{number}"), text(&mut random(number))))
        .collect()
}

fn log_uniform(random: &mut RandomStream, (least, most): (f64, f64)) -> f64 {
    least * (most / least).powf(random.uniform())
}

fn text(random: &mut RandomStream) -> String {
    let count = 2 + random.below(2) as usize;
    let mut rates: Vec<f64> = (0..count).map(|_| log_uniform(random, RATES_MBPS)).collect();
    let scale = (MAX_TOTAL_MBPS / rates.iter().sum::<f64>()).min(1.0);
    rates.iter_mut().for_each(|rate| *rate *= scale);
    let mut nodes = String::new();
    let mut links = String::new();
    for (index, rate) in rates.iter().enumerate() {
        let (delay, queue) = (log_uniform(random, DELAYS_MS), log_uniform(random, QUEUES_BDP));
        let number = index + 1;
        let _ = writeln!(nodes, "m{number} = {{ kind = \"member\" }}");
        let _ = writeln!(
            links,
            "wwan{number} = {{ between = [\"proxy\", \"m{number}\"], rate = \"{:.0} kbit/s\", delay = \"{:.0} us\", \
             queue = \"{queue:.2} bdp\" }}",
            rate * 1000.0,
            delay * 1000.0,
        );
        let _ = writeln!(
            links,
            "wlan{number} = {{ between = [\"m{number}\", \"receiver\"], rate = \"300 Mbit/s\", delay = \"1 ms\", \
             queue = \"2 MB\" }}"
        );
    }
    format!(
        "duration = \"{SECONDS} s\"\n[nodes]\nserver = {{ kind = \"host\" }}\nproxy = {{ kind = \"prism-proxy\" }}\n\
         receiver = {{ kind = \"host\" }}\n{nodes}[links]\nbackbone = {{ between = [\"server\", \"proxy\"], rate = \
         \"1 Gbit/s\", delay = \"1 ms\", queue = \"4 MB\" }}\n{links}[flows.download]\nfrom = \"server\"\nto = \
         \"receiver\"\ntransport = \"mptcp\"\ntcp = {{ window = \"16 MB\" }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::mptcp_mixes;

    #[test]
    fn mixes_are_scenarios_that_both_backends_run_and_the_same_every_time() {
        let files = mptcp_mixes(1, 20);
        let links = |file: &super::ScenarioFile| file.scenario(None, &[]).unwrap().plan.shared_links().len();
        assert!(files.iter().all(|file| [2, 3].contains(&links(file))));
        assert!([2, 3].iter().all(|count| files.iter().any(|file| links(file) == *count)));
        let again = mptcp_mixes(1, 20);
        assert!(
            files
                .iter()
                .zip(&again)
                .all(|(a, b)| a.scenario(None, &[]).unwrap() == b.scenario(None, &[]).unwrap())
        );
    }
}
