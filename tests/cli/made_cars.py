"""A made table of used cars: numbers, words, true and false, constants, and holes everywhere."""

import numpy as np
import pandas as pd

FIT = ["--rules", "3", "--iterations", "300", "--droprule"]


def make_cars(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    cars = pd.DataFrame(
        {
            "plate": [f"TK {k:04d}" for k in range(n_rows)],
            "weight": rng.normal(1500, 300, n_rows).round(),
            "power": rng.normal(100, 30, n_rows).round(1),
            "fuel": rng.choice(["petrol", "diesel", "electric"], n_rows, p=[0.6, 0.3, 0.1]),
            "sold": rng.random(n_rows) < 0.3,
            "first seen": "2020-01-01",
            "wheels": 4,
        }
    )
    price = 20000 - 5 * cars["weight"] + 100 * cars["power"] + 3000 * (cars["fuel"] == "electric")
    cars["price"] = (price + rng.normal(0, 500, n_rows)).round()
    cars.loc[rng.random(n_rows) < 0.1, "power"] = np.nan
    cars.loc[rng.random(n_rows) < 0.05, "fuel"] = None
    cars.loc[[3, 7], "price"] = np.nan
    return cars
