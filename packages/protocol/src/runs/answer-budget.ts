/**
 * The outputs that one answer to an agent holds, whichever notebook it is of and in code mode: about 5,000 tokens of text, and the images that
 * hosts take. A result over that is shortened, and says where the rest is.
 */
export const answerBudget = {
  /** Characters of JSON. The rest of a result has keys and ids, and is escaped once more on its way: 20,000 in all. */
  textCharacters: 18_000,
  /** Characters of a table at most: its first and last rows. */
  tableCharacters: 6000,
  images: 20,
  /** Bytes of one image. All of a result together take as many as four of this size. */
  imageBytes: 256 * 1024,
  imagesOfFullSize: 4,
  /** Pixels of the longer side: more is made smaller by the hosts of agents. */
  imageEdge: 1568,
  /** How long one result may take to scale its images, and may begin to draw charts. Milliseconds each. */
  scalingMs: 15_000,
  drawingMs: 15_000,
} as const;
