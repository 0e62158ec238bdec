"""A Hydra application that makes datasets: Hydra's launchers and sweepers run `synth.run`."""

import hydra
from omegaconf import DictConfig, OmegaConf

import synth
from synth.core.config.compose import store

store(group="synth")


@hydra.main(version_base="1.3", config_path="conf", config_name="app")
def main(config: DictConfig) -> float | None:
    run = synth.run(OmegaConf.to_container(config.synth, resolve=True), progress=False)
    print(run)
    return run.report.totals.mean_reward()


if __name__ == "__main__":
    main()
