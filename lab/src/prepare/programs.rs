//! Programs of the user's own: their commands with addresses filled in.
use crate::LabError;
use crate::orders::Carrier;
use crate::programs::OwnProgram;
use crate::stage::Stage;
use crate::traffic::Schedule;
use prismux_linux::clock::Clock;
use prismux_units::Instant;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

impl Stage<'_> {
    /// Makes every program of the plan ready.
    ///
    /// # Errors
    /// When a flow has no way, at the end of which data could arrive.
    pub fn prepare_programs(
        &mut self,
        clock: Clock,
        over: &Arc<AtomicBool>,
    ) -> Result<Vec<OwnProgram>, LabError> {
        let plan = self.orders.plan;
        if plan.programs.is_empty() {
            return Ok(Vec::new());
        }
        let addresses = self.named_addresses()?;
        let end = Instant::ZERO + plan.duration;
        let prepared = plan.programs.iter().map(|program| {
            let at = |time| Instant::ZERO + time;
            let stop = program.stop.map_or(end, |stop| at(stop).min(end));
            OwnProgram {
                name: program.name.clone(),
                namespace: self.namespaces[program.node.index()].clone(),
                command: program.command.iter().map(|word| fill_in(word, &addresses)).collect(),
                schedule: Schedule { clock, start: at(program.start), stop, over: Arc::clone(over) },
            }
        });
        Ok(prepared.collect())
    }

    /// What commands may call by name: the own address of every node, and where the data of each flow arrive. A node
    /// goes before a flow of its name.
    fn named_addresses(&mut self) -> Result<Vec<(String, Ipv4Addr)>, LabError> {
        let plan = self.orders.plan;
        let own =
            |(index, node): (usize, &prismux_plan::Node)| (node.name.clone(), self.topology.address(index));
        let mut addresses: Vec<_> = plan.nodes.iter().enumerate().map(own).collect();
        for flow in &self.orders.flows {
            let address = match flow.carrier {
                Carrier::Fetch(_) => self.topology.address(flow.flow.to.index()),
                _ => self.first_path(flow)?.address,
            };
            addresses.push((flow.flow.name.clone(), address));
        }
        Ok(addresses)
    }
}

/// `word` with every `{NAME}` that is known replaced by its address.
fn fill_in(word: &str, addresses: &[(String, Ipv4Addr)]) -> String {
    let replace = |text: String, (name, address): &(String, Ipv4Addr)| {
        text.replace(&format!("{{{name}}}"), &address.to_string())
    };
    addresses.iter().fold(word.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::fill_in;

    #[test]
    fn names_in_braces_become_addresses_and_other_braces_stay() {
        let addresses = [("server".to_owned(), [10, 0, 0, 1].into()), ("a".to_owned(), [10, 0, 0, 2].into())];
        assert_eq!(fill_in("http://{server}:80/{a}", &addresses), "http://10.0.0.1:80/10.0.0.2");
        assert_eq!(fill_in("{print $1} server {b}", &addresses), "{print $1} server {b}");
    }
}
